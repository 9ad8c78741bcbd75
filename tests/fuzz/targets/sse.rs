#![no_main]

#[path = "../bodies/cuts.rs"]
mod cuts;
#[path = "../bodies/sse.rs"]
mod sse;

libfuzzer_sys::fuzz_target!(|input: &[u8]| sse::check(input));
