//! The example program, against the one of a server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::program;

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_client_asks_the_server_and_no_proxy_for_this_machine() {
    let started = Command::new(program("http_server"))
        .arg("0")
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(started.unwrap());
    let mut url = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    // Nobody listens there.
    let proxy = "http://127.0.0.1:9";
    let output = Command::new(program("http_client"))
        .arg(url.trim())
        .envs([("HTTP_PROXY", proxy), ("http_proxy", proxy), ("ALL_PROXY", proxy)])
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{stdout}{stderr}");
    // The question and the progress are handed out by two tasks.
    let mut lines: Vec<_> = stdout.lines().collect();
    lines[2..5].sort_unstable();
    let expected = [
        "connected to weather, revision 2026-07-28",
        "tool weather: Tells the weather in a city.",
        "asked: For which day?",
        "progress 1 of 2",
        "progress 1 of 2",
        "It is sunny in Oslo.",
    ];
    assert_eq!(lines, expected);
    assert_eq!(stderr, "");
}

#[test]
fn other_machines_are_reached_through_the_proxy_of_the_system() {
    let output = Command::new(program("http_client"))
        .arg("http://server.test/mcp")
        .envs([
            ("HTTP_PROXY", "http://127.0.0.1:9"),
            ("http_proxy", "http://127.0.0.1:9"),
        ])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    // The proxy refuses; a name that nobody has would not be found.
    assert!(
        stderr.contains("refused") && stderr.contains("It may help to try again."),
        "{stderr}"
    );
}
