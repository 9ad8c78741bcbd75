#![no_main]

#[path = "../bodies/cuts.rs"]
mod cuts;
#[path = "../bodies/session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session::check(input));
