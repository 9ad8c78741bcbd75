//! Skips work whose inputs have not changed since it was last done.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that do not go into what is built from their parent.
const SKIPPED: [&str; 5] = ["target", "node_modules", "__pycache__", "tests", "benches"];

/// A digest of everything a piece of work depends on, and the file that remembers it.
pub(crate) struct Stamp {
    file: PathBuf,
    digest: String,
}

impl Stamp {
    /// Reads every file under `paths` (folders are walked; a path that is not there counts as empty). `words` is what
    /// else decides the outcome: versions, options.
    pub(crate) fn of(file: PathBuf, paths: &[PathBuf], words: &[&str]) -> Result<Self> {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        for path in paths {
            hash_path(path, &mut hasher).with_context(|| format!("cannot read {}", path.display()))?;
        }
        Ok(Self {
            file,
            digest: format!("{:016x}", hasher.finish()),
        })
    }

    /// Whether the work was done with these very inputs.
    pub(crate) fn is_fresh(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|known| known == self.digest)
    }

    /// Remembers that the work is done. Call it last.
    pub(crate) fn save(&self) -> Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.file, &self.digest).with_context(|| format!("cannot write {}", self.file.display()))
    }

    /// The digest itself, for a folder's name.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

fn hash_path(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    if path.is_dir() {
        let mut children: Vec<PathBuf> = path
            .read_dir()?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        children.sort();
        for child in children {
            let name = child.file_name().unwrap_or_default().to_string_lossy();
            if !SKIPPED.contains(&name.as_ref()) {
                name.hash(hasher);
                hash_path(&child, hasher)?;
            }
        }
    } else if path.is_file() {
        fs::read(path)?.hash(hasher);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_content_name_or_word_makes_it_stale() {
        let folder = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        let sources = folder.join("src");
        fs::create_dir_all(&sources).unwrap();
        fs::write(sources.join("a"), "1").unwrap();
        let stamp = |word| Stamp::of(folder.join("stamp"), std::slice::from_ref(&sources), &[word]).unwrap();

        assert!(!stamp("x").is_fresh());
        stamp("x").save().unwrap();
        assert!(stamp("x").is_fresh());
        assert!(!stamp("y").is_fresh());
        fs::write(sources.join("a"), "2").unwrap();
        assert!(!stamp("x").is_fresh());
        fs::write(sources.join("a"), "1").unwrap();
        fs::rename(sources.join("a"), sources.join("b")).unwrap();
        assert!(!stamp("x").is_fresh());
        fs::remove_dir_all(folder).unwrap();
    }
}
