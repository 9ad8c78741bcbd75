//! The example programs do what they say.

mod support;

use std::process::Command;

#[test]
fn the_client_calls_the_server() {
    let output = Command::new(support::program("client")).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    let expected = "\
connected to example, revision 2025-11-25
tool add: Adds two numbers.
tool count: Counts, and reports its progress.
2 + 3 = 5
failed: true, Invalid arguments for tool add (-32602): missing field `b`; expected {\"a\": integer, \"b\": integer}
progress 1 of 3
progress 2 of 3
progress 3 of 3
counted to 3
cut short: true
";
    assert_eq!(stdout, expected);
}

#[test]
fn the_client_says_what_to_do_when_there_is_no_server() {
    let output = Command::new(support::program("client"))
        .arg("no-such-server-anywhere")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        stderr.contains("no-such-server-anywhere") && stderr.contains("PATH"),
        "{stderr}"
    );
}
