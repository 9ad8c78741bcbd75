//! Facts that a figure means nothing without: the machine, the interpreters, the versions of what was measured.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::process::CommandLine;
use crate::subjects::{Package, Places};

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    /// Processes that wanted a core just before the run: far over zero, something else was using the machine.
    pub(crate) load_before: f64,
    pub(crate) rust: String,
    pub(crate) python: String,
    pub(crate) node: String,
    /// Where subjects in Kotlin are measured.
    pub(crate) java: Option<String>,
    /// The compiler of the subjects in Swift, where they are measured.
    pub(crate) swift: Option<String>,
}

impl Machine {
    pub(crate) fn look(places: &Places) -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let kb: u64 = field(&read("/proc/meminfo"), "MemTotal")
            .trim_end_matches(" kB")
            .parse()
            .unwrap_or(0);
        let load = read("/proc/loadavg");
        Self {
            date: today(),
            cpu: field(&read("/proc/cpuinfo"), "model name").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: (kb + (1 << 19)) >> 20,
            kernel: read("/proc/sys/kernel/osrelease")
                .trim()
                .split('-')
                .next()
                .unwrap_or_default()
                .to_owned(),
            load_before: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
            rust: version(Path::new("rustc"), &["--version"]),
            python: version(&places.python, &["--version"]),
            node: version(&places.node, &["--version"]),
            java: places.kotlin.is_some().then(|| java_version(&places.java)).flatten(),
            swift: places.swift.as_deref().and_then(swift_version),
        }
    }

    /// What the subjects run on that are not compiled.
    fn interpreters(&self) -> String {
        let java = self
            .java
            .as_ref()
            .map_or_else(String::new, |java| format!(", Java {java}"));
        format!("{}, Node {}{java}", self.python, self.node)
    }

    fn languages(&self) -> String {
        let swift = self
            .swift
            .as_ref()
            .map_or_else(String::new, |swift| format!(", Swift {swift}"));
        format!("{}, {}{swift}", self.rust, self.interpreters())
    }

    /// What stands under a picture.
    pub(crate) fn under_picture(&self, rounds: usize) -> String {
        // As short as it can be told: it is one line.
        let cpu = ["(R)", "(TM)", " Processor"]
            .iter()
            .fold(self.cpu.clone(), |cpu, mark| cpu.replace(mark, ""));
        format!(
            "{cpu}, {} cores · {} · {} · medians of {rounds} interleaved rounds · logarithmic scales",
            self.cores,
            self.date,
            self.interpreters()
        )
    }

    /// The facts as pairs of a name and a text.
    pub(crate) fn facts(&self) -> [(&'static str, String); 6] {
        [
            ("date", self.date.clone()),
            ("processor", format!("{} ({} cores)", self.cpu, self.cores)),
            ("memory", format!("{} GiB", self.memory_gib)),
            ("kernel", format!("Linux {}", self.kernel)),
            ("languages", self.languages()),
            ("load before the run", self.load_before.to_string()),
        ]
    }
}

/// The second word of what Java says, such as `17.0.15`.
fn java_version(java: &Path) -> Option<String> {
    let said = output(java, &["--version"])?;
    said.split(' ').nth(1).map(str::to_owned)
}

/// What a file beside the programs says; it need not be there.
fn swift_version(programs: &Path) -> Option<String> {
    let said = std::fs::read_to_string(programs.join("version")).ok()?;
    Some(said.trim().to_owned()).filter(|version| !version.is_empty())
}

/// The version of the package that a subject is made with, as it is installed; `None` if there is no package or it is
/// not there.
pub(crate) fn package_version(package: Package, places: &Places) -> Option<String> {
    match package {
        Package::None => None,
        Package::Python(name) => {
            let code = format!("import importlib.metadata as m; print(m.version('{name}'))");
            let version = output(&places.python, &["-c", &code])?;
            (!version.is_empty()).then_some(version)
        }
        Package::Npm(name) => {
            let manifest = places.subjects.join("node_modules").join(name).join("package.json");
            let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
            Some(manifest["version"].as_str()?.to_owned())
        }
        Package::Own => Some(env!("CARGO_PKG_VERSION").to_owned()),
        Package::Jar(name) => jar_version(&std::fs::read_to_string(places.kotlin.as_ref()?).ok()?, name),
        Package::Crate(name, folder) => {
            let lock = std::fs::read_to_string(places.subjects.join(folder).join("Cargo.lock")).ok()?;
            locked_version(&lock, name)
        }
    }
}

/// The version in the name of a jar on a class path.
fn jar_version(class_path: &str, name: &str) -> Option<String> {
    let (_, after) = class_path.split_once(&format!("/{name}-"))?;
    Some(after.split_once(".jar")?.0.to_owned())
}

fn locked_version(lock: &str, name: &str) -> Option<String> {
    let (_, entry) = lock.split_once(&format!("\nname = \"{name}\"\nversion = \""))?;
    Some(entry.split_once('"')?.0.to_owned())
}

fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .find(|(key, _)| key.trim() == name)
        .map_or("", |(_, value)| value.trim())
}

/// What a program answers when asked for its version, without the hash and date that some add.
fn version(program: &Path, arguments: &[&str]) -> String {
    let answer = output(program, arguments).unwrap_or_else(|| "not found".to_owned());
    answer
        .split(" (")
        .next()
        .unwrap_or_default()
        .trim_start_matches('v')
        .to_owned()
}

fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut line = vec![program.display().to_string()];
    line.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let mut command: Command = CommandLine {
        arguments: line,
        environment: Vec::new(),
    }
    .command();
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn today() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs());
    date(seconds / 86_400)
}

/// The Gregorian date, `days` after 1970-01-01, counted in years that begin in March so that a leap day comes last.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_453), "2025-12-31");
        assert_eq!(date(20_454), "2026-01-01");
    }

    #[test]
    fn fields_and_locked_versions_are_found() {
        assert_eq!(
            field("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n", "model name"),
            "Some CPU @ 2 GHz"
        );
        let lock = "[[package]]\nname = \"rmcp-macros\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"rmcp\"\nversion = \"3.11.0\"\n";
        assert_eq!(locked_version(lock, "rmcp"), Some("3.11.0".to_owned()));
        assert_eq!(locked_version(lock, "oxmcp"), None);
        let class_path = "-cp \"/m/kotlin-sdk-core-jvm/1.0/kotlin-sdk-core-jvm-1.0.jar:/m/kotlin-sdk-jvm/0.9/kotlin-sdk-jvm-0.9.jar\"";
        assert_eq!(jar_version(class_path, "kotlin-sdk-jvm"), Some("0.9".to_owned()));
        assert_eq!(jar_version(class_path, "oxmcp"), None);
    }
}
