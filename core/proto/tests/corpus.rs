//! Replays the corpus of the fuzz targets, on any toolchain.
//!
//! A file that made a target fail once stays in `tests/fuzz/corpus`, and so is tried for ever.

#[path = "../../../tests/fuzz/bodies/cuts.rs"]
mod cuts;
#[path = "../../../tests/fuzz/bodies/line.rs"]
mod line;
#[path = "../../../tests/fuzz/bodies/session.rs"]
mod session;
#[path = "../../../tests/fuzz/bodies/sse.rs"]
mod sse;

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

#[test]
fn the_corpus_of_line_framing() {
    replay("line", line::check);
}

#[test]
fn the_corpus_of_server_sent_events() {
    replay("sse", sse::check);
}

#[test]
fn the_corpus_of_the_session() {
    replay("session", session::check);
}

/// Runs `check` on every file, and says which ones fail.
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fuzz/corpus")
        .join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    let fails = |file: &&PathBuf| {
        let input = std::fs::read(file).unwrap();
        catch_unwind(|| check(&input)).is_err()
    };
    let failed: Vec<&PathBuf> = files.iter().filter(fails).collect();
    assert!(failed.is_empty(), "of {} files these fail: {failed:#?}", files.len());
}
