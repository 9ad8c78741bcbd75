//! The transcripts that every language runs, here against the core itself.

mod support;

use support::runner::{Cut, Runner};
use support::transcript;

/// Each transcript passes, however the bytes of the peer are cut.
#[test]
fn transcripts() {
    let all = transcript::all();
    assert!(!all.is_empty(), "there are no transcripts");
    let mut failures = Vec::new();
    for transcript in &all {
        match Runner::run(transcript, Cut::Whole) {
            Err(failure) => failures.push(failure),
            Ok(longest) => {
                // Few steps are long, and a cut deep in them is like any other.
                let cuts = (1..longest.min(48)).chain((48..longest).step_by(17)).map(Cut::After);
                let cuts = [Cut::EveryByte, Cut::Joined].into_iter().chain(cuts);
                failures.extend(cuts.filter_map(|cut| Runner::run(transcript, cut).err()).take(3));
            }
        }
    }
    println!("{} transcripts", all.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
