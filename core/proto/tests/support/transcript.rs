//! The transcripts on disk.

use std::path::{Path, PathBuf};

/// One file of `tests/vectors`: a header and its steps, each with its line number.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub file: String,
    pub header: String,
    pub steps: Vec<(usize, String)>,
}

/// Every transcript, in the order of the file names.
pub(crate) fn all() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Transcript {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(str::to_owned).enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines
        .next()
        .unwrap_or_else(|| panic!("{} has no header", path.display()));
    Transcript {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        header,
        steps: lines.map(|(at, line)| (at + 1, line)).collect(),
    }
}
