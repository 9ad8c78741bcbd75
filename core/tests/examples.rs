//! The example programs do what they say.

mod support;

use std::process::Command;

#[test]
fn the_client_calls_the_server() {
    let output = Command::new(support::program("client")).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    let expected = "\
connected to example, revision 2026-07-28
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

#[test]
fn one_of_everything_works_by_both_kinds_of_revisions() {
    for (arguments, revision) in [(&[][..], "2026-07-28"), (&["--handshake"][..], "2025-11-25")] {
        let output = Command::new(support::program("everything_client"))
            .args(arguments)
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{stdout}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let expected = format!(
            "\
connected to everything, revision {revision}
tool book: Asks the person, and books a table.
tool summarize: Asks the model for a summary.
tool folders: Names the folders it may work on.
tool work: Takes a while, and says how far it is.
tool raise: Raises the counter by one.
asked: A table for how many? (seats, place, wishes)
booked 2 seats, Garden, no wishes
model-1 says: an answer to 1 message
file:///home/ada/work
log: info \"starting\"
progress 1 of 2
progress 2 of 2
log: notice {{\"steps\":2}}
{{\"steps\":2,\"client\":\"everything-client\"}}
updated: app://counter
app://counter: 1
note://2: This is note 2.
failed: Resource not found: note://7
notes: 1, 2, 3
languages: rust, ruby
user: Review this rust code, with strictness 5.
assistant: Show me the code.
"
        );
        assert_eq!(stdout, expected);
    }
}
