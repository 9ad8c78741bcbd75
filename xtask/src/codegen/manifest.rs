//! A list of the generated files with a digest of each, by which they are checked where the schemas are not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// The manifest's own file.
pub(super) const NAME: &str = "MANIFEST";

/// Counts the changes of the generator that change what it writes.
const GENERATOR: u32 = 1;

/// What was generated, and by which generator.
pub(super) struct Manifest {
    generator: u32,
    digests: BTreeMap<String, String>,
}

impl Manifest {
    pub(super) fn of(files: &BTreeMap<String, String>) -> Self {
        let digests = files.iter().map(|(name, text)| (name.clone(), digest(text.as_bytes())));
        Self {
            generator: GENERATOR,
            digests: digests.collect(),
        }
    }

    /// One line for the generator, then one per file.
    pub(super) fn text(&self) -> String {
        let mut text = format!("generator {}\n", self.generator);
        for (name, digest) in &self.digests {
            writeln!(text, "{digest} {name}").expect("a string takes all text");
        }
        text
    }

    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is no manifest", path.display()))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let generator = lines.next()?.strip_prefix("generator ")?.parse().ok()?;
        let digests = lines.map(|line| {
            line.split_once(' ')
                .map(|(digest, name)| (name.to_owned(), digest.to_owned()))
        });
        Some(Self {
            generator,
            digests: digests.collect::<Option<_>>()?,
        })
    }

    /// Compares the files in a folder and returns how many there are.
    pub(super) fn verify(&self, folder: &Path) -> Result<usize> {
        ensure!(
            self.generator == GENERATOR,
            "the files are of generator {}, this is {GENERATOR}; run `cargo xtask codegen` where the schemas are",
            self.generator
        );
        let mut found = names(folder)?;
        found.remove(NAME);
        if let Some(name) = found.iter().find(|name| !self.digests.contains_key(*name)) {
            bail!("{name} is not in the manifest of {}", folder.display());
        }
        for (name, wanted) in &self.digests {
            let path = folder.join(name);
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            ensure!(
                digest(&bytes) == *wanted,
                "{} was changed by hand; change the generator",
                path.display()
            );
        }
        Ok(self.digests.len())
    }
}

/// The files in a folder; none if there is no such folder.
pub(super) fn names(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for entry in folder.read_dir()? {
        names.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// FNV-1a with 128 bits. It finds accidents, not forgers, and a checkout with CR LF has the same.
fn digest(bytes: &[u8]) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash = BASIS;
    for &byte in bytes.iter().filter(|&&byte| byte != b'\r') {
        hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_fnv_1a() {
        assert_eq!(digest(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(digest(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(digest(b"a\r\n"), digest(b"a\n"));
    }

    #[test]
    fn a_changed_a_missing_and_a_stray_file_are_found() {
        let folder = std::env::temp_dir().join(format!("xtask-manifest-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
        fs::write(folder.join("a"), "1").unwrap();
        fs::write(folder.join(NAME), Manifest::of(&files).text()).unwrap();
        let verify = || Manifest::read(&folder).unwrap().verify(&folder);
        assert_eq!(verify().unwrap(), 1);

        fs::write(folder.join("a"), "2").unwrap();
        assert!(verify().unwrap_err().to_string().contains("changed by hand"));
        fs::write(folder.join("a"), "1").unwrap();
        fs::write(folder.join("b"), "1").unwrap();
        assert!(verify().unwrap_err().to_string().contains("b is not in the manifest"));
        fs::remove_file(folder.join("a")).unwrap();
        fs::remove_file(folder.join("b")).unwrap();
        assert!(verify().unwrap_err().to_string().contains("cannot read"));

        fs::write(folder.join(NAME), "generator 0\n").unwrap();
        assert!(verify().unwrap_err().to_string().contains("generator 0"));
        fs::write(folder.join(NAME), "x").unwrap();
        assert!(Manifest::read(&folder).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
