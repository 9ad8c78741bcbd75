//! The program as one runs it, on the subjects that need nothing installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn bench(dir: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxmcp-bench"))
        .args(["--dir", dir, "--quick", "--rounds", "1"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn bare_loops_are_measured() {
    let file = temporary("bare.json");
    let output = bench(
        HERE,
        &[
            "--only",
            "rust-server-bare,rust-client-bare",
            "--json",
            &file.display().to_string(),
        ],
    );
    let text = stdout(&output);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("RESULTS.md and results/ are left as they were"), "{text}");

    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("written")).expect("JSON");
    let subjects = results["subjects"].as_array().expect("a list");
    assert_eq!(subjects.len(), 2);
    for subject in subjects {
        assert_eq!(subject["samples"].as_array().map(Vec::len), Some(1), "{subject}");
        for figure in [
            "start_ms",
            "p50_us",
            "p99_us",
            "calls_per_s",
            "cpu_s_per_10k",
            "peak_kb",
        ] {
            assert!(
                subject["median"][figure].as_f64().is_some_and(|value| value > 0.0),
                "{figure}: {subject}"
            );
        }
    }
}

#[test]
fn servers_over_http_are_measured() {
    let file = temporary("http.json");
    let output = bench(
        HERE,
        &[
            "--transport",
            "http",
            "--only",
            "rust-http-bare-axum-modern-json,rust-http-oxmcp-legacy-sse",
            "--json",
            &file.display().to_string(),
        ],
    );
    let text = stdout(&output);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("written")).expect("JSON");
    let subjects = results["subjects"].as_array().expect("a list");
    assert_eq!(subjects.len(), 2);
    for subject in subjects {
        for figure in [
            "start_ms",
            "p50_us",
            "calls_per_s",
            "busy_p99_us",
            "cpu_s_per_10k",
            "peak_kb",
        ] {
            assert!(
                subject["median"][figure].as_f64().is_some_and(|value| value > 0.0),
                "{figure}: {subject}"
            );
        }
        let has_sessions = subject["era"] == "legacy";
        assert_eq!(subject["median"]["idle_kb"].is_f64(), has_sessions, "{subject}");
    }
}

#[test]
fn a_soak_leaves_nothing_behind() {
    let output = bench(HERE, &["--soak", "8000"]);
    let text = stdout(&output);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.starts_with("8000 calls in "), "{text}");
}

#[test]
fn a_subject_that_cannot_start_is_named_and_the_others_go_on() {
    let output = bench(
        HERE,
        &[
            "--only",
            "rust-server-bare,python-server-bare",
            "--python",
            "/nowhere/python",
        ],
    );
    let text = stdout(&output);
    assert!(!output.status.success(), "{text}");
    assert!(
        text.contains("FAILED python-server-bare-loop: cannot start /nowhere/python"),
        "{text}"
    );
    assert!(!text.contains("FAILED rust-server-bare-loop"), "{text}");
}

#[test]
fn a_server_that_answers_wrongly_fails_with_its_stderr() {
    let dir = temporary("liar");
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}"#;
    let script = format!("echo 'it lies' >&2\nwhile read -r line; do echo '{answer}'; done\n");
    std::fs::create_dir_all(dir.join("subjects")).expect("a folder");
    std::fs::write(dir.join("subjects/bare_server.py"), script).expect("written");

    let output = bench(
        &dir.display().to_string(),
        &["--only", "python-server-bare", "--python", "sh"],
    );
    let text = stdout(&output);
    assert!(!output.status.success(), "{text}");
    assert!(
        text.contains("FAILED python-server-bare-loop: not the result of a tools/call"),
        "{text}"
    );
    assert!(text.contains("    it lies"), "{text}");
}

#[test]
fn an_unknown_name_and_a_wrong_folder_are_explained() {
    let output = bench(HERE, &["--only", "cobol"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--list shows the names"));

    let output = bench("/nowhere", &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/subjects is no folder"));
}
