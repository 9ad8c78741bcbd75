#![no_main]

#[path = "../bodies/cuts.rs"]
mod cuts;
#[path = "../bodies/line.rs"]
mod line;

libfuzzer_sys::fuzz_target!(|input: &[u8]| line::check(input));
