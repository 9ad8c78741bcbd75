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
        // Logs and progress are handled beside each other: each has its order, both together have none.
        let (logs, rest): (Vec<_>, Vec<_>) = stdout.lines().partition(|line| line.starts_with("log: "));
        assert_eq!(logs, ["log: info \"starting\"", "log: notice {\"steps\":2}"]);
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
progress 1 of 2
progress 2 of 2
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
        assert_eq!(rest, expected.lines().collect::<Vec<_>>());
    }
}

/// A server that prints its address as its first line, and ends with this.
#[cfg(feature = "http")]
struct Served(std::process::Child, String);

#[cfg(feature = "http")]
impl Served {
    fn start(name: &str) -> Self {
        use std::io::{BufRead, BufReader};

        let mut server = Command::new(support::program(name));
        let server = server.args(["--http", "0"]).stdout(std::process::Stdio::piped());
        let mut served = Self(server.spawn().unwrap(), String::new());
        let stdout = served.0.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut served.1).unwrap();
        served
    }
}

#[cfg(feature = "http")]
impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[cfg(feature = "http")]
#[test]
fn the_weather_is_the_same_over_both_transports() {
    let served = Served::start("weather_server");
    for arguments in [&[][..], &[served.1.trim()][..]] {
        let output = Command::new(support::program("weather_client"))
            .args(arguments)
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stdout}{stderr}");
        let expected = "\
Weather that is made up, of a few cities.
1 of 2
2 of 2
Oslo, in 0 days: sunny, 2 °C
Oslo, in 1 days: cloudy, -2 °C
failed: true, nobody knows the weather of \"Atlantis\"; there is weather in Cairo, Lima, Oslo, Quito, Tokyo
When to Lima? In two days, but only if it does not rain.
Go: it will be cloudy in Lima, at 19 °C.
Cairo, Lima, Oslo, Quito, Tokyo
Tokyo: cloudy, 9 °C
begins with C: Cairo
Look up the weather in Quito, and say what to pack for three days there.
";
        assert_eq!((stdout.as_str(), &*stderr), (expected, ""));
    }
}

#[cfg(feature = "http")]
#[test]
fn the_weather_client_says_what_is_wrong_when_there_is_no_server() {
    let output = Command::new(support::program("weather_client"))
        .arg("http://127.0.0.1:1/mcp")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(stderr.contains("127.0.0.1:1"), "{stderr}");
}
