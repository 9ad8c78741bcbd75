//! Servers as child processes, and servers on the standard streams of a process.
#![cfg(unix)]

mod support;

use std::fs::File;
use std::future::IntoFuture;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use oxmcp::{ChildProcess, Client, ErrorKind, Fault};
use serde_json::{Value, json};
use support::program;
use tokio::sync::mpsc;

fn test_server() -> ChildProcess {
    ChildProcess::new(program("test_server"))
}

fn shell(script: &str) -> ChildProcess {
    ChildProcess::new("sh").args(["-c", script])
}

/// A server that says it is one, and then does what the script says.
fn initialized_then(script: &str) -> ChildProcess {
    let result =
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}"#;
    shell(&format!(
        "read request; echo '{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{result}}}'; read initialized; {script}"
    ))
}

/// A client that does not ask first what the server is.
async fn by_handshake(server: ChildProcess) -> Client {
    Client::builder().probe(false).connect(server).await.unwrap()
}

/// Whether a process of this id runs; one that ended and was not reaped does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, state)| !state.starts_with(" Z"))
}

/// Lets a kill take its effect, which the kernel tells nobody of.
fn wait_until_gone(pid: &str) {
    let start = Instant::now();
    while runs(pid) {
        assert!(start.elapsed() < Duration::from_secs(20), "process {pid} still runs");
        std::thread::yield_now();
    }
}

/// Its lines on standard error, as they come.
fn with_lines(server: ChildProcess) -> (ChildProcess, mpsc::UnboundedReceiver<String>) {
    let (lines, seen) = mpsc::unbounded_channel();
    let server = server.stderr_lines(move |line| {
        let _ = lines.send(line.to_owned());
    });
    (server, seen)
}

#[tokio::test]
async fn a_child_is_started_called_and_ended() {
    let (server, mut lines) = with_lines(test_server());
    let client = Client::connect(server).await.unwrap();
    assert_eq!(client.server_info().name, "test");
    assert_eq!(client.list_tools().await.unwrap()[0].name, "echo");
    let result = client.call_tool("echo", json!({"text": "hällo"})).await.unwrap();
    assert_eq!(result.text(), "hällo");
    client.close().await;
    client.close().await;
    assert_eq!(client.ping().await.unwrap_err().kind(), ErrorKind::Closed);
    assert!(
        lines.recv().await.is_none(),
        "nothing was printed, and the process has ended"
    );
}

#[tokio::test]
async fn a_server_of_the_handshake_is_asked_what_it_is_only_once() {
    let sent = async |server: ChildProcess| {
        let seen = std::sync::Arc::<std::sync::Mutex<Vec<String>>>::default();
        let lines = std::sync::Arc::clone(&seen);
        let builder = Client::builder().on_trace(move |direction, line| {
            if direction == oxmcp::Direction::Sent {
                lines.lock().unwrap().push(line.to_owned());
            }
        });
        let client = builder.connect(server).await.unwrap();
        client.close().await;
        let methods = seen.lock().unwrap().clone();
        let read = |line: String| {
            serde_json::from_str::<Value>(&line).unwrap()["method"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        methods.into_iter().map(read).collect::<Vec<_>>()
    };
    let old = || test_server().arg("old");
    let handshake = ["initialize", "notifications/initialized"];
    assert_eq!(sent(old()).await[0], "server/discover");
    assert_eq!(sent(old()).await, handshake);
    assert_eq!(
        sent(old().current_dir("/")).await[0],
        "server/discover",
        "another folder is another server"
    );
    for _ in 0..2 {
        assert_eq!(sent(test_server()).await, ["server/discover"]);
    }
}

#[tokio::test]
async fn what_a_handler_prints_lands_on_standard_error() {
    let (server, mut lines) = with_lines(test_server());
    let client = Client::connect(server).await.unwrap();
    assert_eq!(client.call_tool("print", ()).await.unwrap().text(), "printed");
    assert_eq!(
        client
            .call_tool("echo", json!({"text": "still here"}))
            .await
            .unwrap()
            .text(),
        "still here"
    );
    client.close().await;
    let mut printed = String::new();
    while let Some(line) = lines.recv().await {
        printed += &line;
    }
    for text in [
        "printed by println",
        "no line end",
        "written to stdout",
        "printed by a child",
    ] {
        assert!(printed.contains(text), "{text} is not in {printed}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_in_the_child() {
    let (server, mut lines) = with_lines(test_server());
    let client = Client::connect(server).await.unwrap();
    let call = tokio::spawn(client.call_tool("wait", ()).into_future());
    assert_eq!(lines.recv().await.unwrap(), "waiting");
    call.abort();
    assert_eq!(lines.recv().await.unwrap(), "cancelled");
    client.close().await;
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named_with_advice() {
    let error = Client::connect(ChildProcess::new("no-such-server-anywhere"))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
    assert!(error.message().contains("\"no-such-server-anywhere\""), "{error}");
    assert!(error.message().contains("PATH"), "{error}");

    let error = Client::connect(ChildProcess::new("sh").current_dir("/no/such/folder"))
        .await
        .unwrap_err();
    assert!(error.message().contains("/no/such/folder does not exist"), "{error}");
    let error = Client::connect(ChildProcess::new("/etc/passwd")).await.unwrap_err();
    assert!(error.message().contains("may be executed"), "{error}");
}

#[tokio::test]
async fn a_child_that_exits_during_the_handshake_is_reported_with_its_status() {
    let error = Client::connect(shell("exit 3")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("\"sh\""), "{error}");
    assert!(error.message().contains("exit status: 3"), "{error}");
}

/// Servers of the handshake may take any other first message for an error, and leave.
#[tokio::test]
async fn a_child_that_exits_at_the_first_question_is_started_again_for_the_handshake() {
    let result = r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"strict","version":"1"}}"#;
    let strict = || {
        with_lines(shell(&format!(
            r#"read request; case $request in *'"initialize"'*) ;; *) echo left >&2; exit 1; esac
            id=${{request#*'"id":'}}; echo '{{"jsonrpc":"2.0","id":'${{id%%,*}}',"result":{result}}}'
            read initialized; echo $$ >&2; sleep 1000"#
        )))
    };
    let (server, mut lines) = strict();
    let client = Client::connect(server).await.unwrap();
    assert_eq!(client.server_info().name, "strict");
    assert_eq!(lines.recv().await.unwrap(), "left");
    let process = lines.recv().await.unwrap();
    // Without a word, so that what it holds of the second process must do.
    drop(client);
    wait_until_gone(&process);

    // Now it is known, and not asked again.
    let (server, mut lines) = strict();
    let client = Client::connect(server.shutdown_grace(Duration::from_millis(50))).await;
    let client = client.unwrap();
    let process = lines.recv().await.unwrap();
    client.close().await;
    wait_until_gone(&process);
}

#[tokio::test]
async fn a_child_that_exits_in_mid_call_fails_the_call_with_its_status() {
    let client = Client::connect(test_server()).await.unwrap();
    let error = client.call_tool("exit", ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("exit status: 7"), "{error}");
    client.close().await;
}

#[tokio::test]
async fn what_a_child_wrote_before_it_exited_still_counts() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"last words"}]}}"#;
    // Its last line may lack its end.
    for print in ["echo", "printf %s"] {
        let server = initialized_then(&format!("read call; {print} '{answer}'; exit 1"));
        let client = by_handshake(server).await;
        assert_eq!(
            client.call_tool("any", ()).await.unwrap().text(),
            "last words",
            "{print}"
        );
        client.close().await;
    }
}

#[tokio::test]
async fn a_child_that_dies_while_its_output_is_held_open_fails_calls_too() {
    let (server, mut lines) = with_lines(initialized_then("read call; sleep 1000 & echo $! >&2; kill -9 $$"));
    let client = by_handshake(server).await;
    let error = client.call_tool("any", ()).await.unwrap_err();
    assert!(error.message().contains("signal: 9"), "{error}");
    let sleeper = lines.recv().await.unwrap();
    client.close().await;
    wait_until_gone(&sleeper);
}

#[tokio::test]
async fn a_child_that_closes_its_output_but_runs_on_fails_calls_and_is_ended() {
    let (server, mut lines) = with_lines(initialized_then("echo $$ >&2; exec >&-; sleep 1000"));
    let client = by_handshake(server.shutdown_grace(Duration::from_millis(100))).await;
    let error = client.call_tool("any", ()).await.unwrap_err();
    assert!(error.message().contains("still runs"), "{error}");
    client.close().await;
    wait_until_gone(&lines.recv().await.unwrap());
}

#[tokio::test]
async fn a_child_that_ignores_every_request_to_leave_is_killed_with_its_group() {
    let script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo $$ $! >&2; while :; do sleep 1000; done";
    let (server, mut lines) = with_lines(initialized_then(script));
    let client = by_handshake(server.shutdown_grace(Duration::from_millis(50))).await;
    let pids = lines.recv().await.unwrap();
    client.close().await;
    for pid in pids.split(' ') {
        wait_until_gone(pid);
    }
}

#[tokio::test]
async fn a_child_that_leaves_when_asked_is_not_killed() {
    let script = "trap 'echo asked >&2; exit 0' TERM; echo ready >&2; while :; do sleep 0.01; done";
    let (server, mut lines) = with_lines(initialized_then(script));
    let client = by_handshake(server.shutdown_grace(Duration::from_millis(200))).await;
    assert_eq!(lines.recv().await.unwrap(), "ready");
    client.close().await;
    // The shell may also tell of what it waited for.
    while lines.recv().await.expect("it was asked") != "asked" {}
}

#[tokio::test]
async fn what_a_child_left_behind_is_asked_to_leave_as_well() {
    let left = "(trap 'echo asked >&2; exit 0' TERM; echo ready >&2; while :; do sleep 0.01; done)";
    let (server, mut lines) = with_lines(initialized_then(&format!("{left} & read end")));
    let client = by_handshake(server.shutdown_grace(Duration::from_millis(200))).await;
    assert_eq!(lines.recv().await.unwrap(), "ready");
    client.close().await;
    while lines.recv().await.expect("it was asked") != "asked" {}
}

#[test]
fn dropping_the_client_kills_the_child_even_if_the_runtime_never_runs_again() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (server, mut lines) = with_lines(initialized_then("sleep 1000 & echo $$ $! >&2; wait"));
    let (client, pids) = runtime.block_on(async {
        let client = by_handshake(server).await;
        (client, lines.recv().await.unwrap())
    });
    assert!(pids.split(' ').all(runs));
    drop(client);
    for pid in pids.split(' ') {
        wait_until_gone(pid);
    }
}

#[test]
fn a_runtime_that_ends_kills_the_child() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (server, mut lines) = with_lines(initialized_then("sleep 1000 & echo $$ $! >&2; wait"));
    let (client, pids) = runtime.block_on(async {
        let client = by_handshake(server).await;
        (client, lines.recv().await.unwrap())
    });
    drop(runtime);
    for pid in pids.split(' ') {
        wait_until_gone(pid);
    }
    drop(client);
}

#[tokio::test]
async fn giving_up_on_the_handshake_ends_the_child() {
    let (server, mut lines) = with_lines(shell("echo $$ >&2; sleep 1000"));
    let server = server.shutdown_grace(Duration::from_millis(50));
    let attempt = tokio::spawn(Client::connect(server));
    let pid = lines.recv().await.unwrap();
    attempt.abort();
    assert!(lines.recv().await.is_none());
    wait_until_gone(&pid);
}

#[tokio::test]
async fn arguments_and_environment_arrive_unchanged() {
    let (server, mut lines) = with_lines(
        ChildProcess::new("sh")
            .args([
                "-c",
                "printf '%s|' \"$@\" \"$OXMCP_TEST\" \"$PWD\" >&2",
                "sh",
                "a \"b\" c&d",
                "$HOME",
                "",
            ])
            .env("OXMCP_TEST", "é e")
            .current_dir("/"),
    );
    Client::connect(server).await.unwrap_err();
    assert_eq!(lines.recv().await.unwrap(), "a \"b\" c&d|$HOME||é e|/|");
}

// A server process and what its standard streams may be.

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn call(id: u32, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"text": "one shot"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn one_shot() -> String {
    format!("{INITIALIZE}\n{}\n", call(1, "echo"))
}

fn messages(output: &str) -> Vec<Value> {
    let lines = output.lines().filter(|line| *line != "the streams are back");
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn expect_one_shot(output: &str) {
    let messages = messages(output);
    assert_eq!(messages.len(), 2, "{output}");
    assert_eq!(messages[1]["result"]["content"][0]["text"], "one shot");
    assert!(output.ends_with("the streams are back\n"), "{output}");
}

fn scratch(name: &str) -> (std::path::PathBuf, File) {
    let path = std::env::temp_dir().join(format!("oxmcp-{}-{name}", std::process::id()));
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    (path, file)
}

#[test]
fn a_piped_one_shot_is_answered() {
    let mut server = Command::new(program("test_server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    server.stdin.take().unwrap().write_all(one_shot().as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success());
    expect_one_shot(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn plain_files_will_do() {
    let (input_path, mut input) = scratch("in");
    let (output_path, output) = scratch("out");
    input.write_all(one_shot().as_bytes()).unwrap();
    let status = Command::new(program("test_server"))
        .stdin(File::open(&input_path).unwrap())
        .stdout(output)
        .status()
        .unwrap();
    let written = std::fs::read_to_string(&output_path).unwrap();
    std::fs::remove_file(input_path).unwrap();
    std::fs::remove_file(output_path).unwrap();
    assert!(status.success());
    expect_one_shot(&written);
}

#[test]
fn the_null_device_is_an_input_without_messages() {
    let Output { status, stdout, .. } = Command::new(program("test_server"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(status.success());
    assert_eq!(stdout, b"the streams are back\n");
}

#[test]
fn closed_standard_streams_are_an_error_that_says_so() {
    let closed = "exec \"$0\" <&-";
    let output = Command::new("sh")
        .args(["-c", closed])
        .arg(program("test_server"))
        .output()
        .unwrap();
    // The standard library opens the null device in the place of a closed stream.
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_pair_of_sockets_will_do_and_is_not_made_non_blocking_for_its_other_owners() {
    let (mut near, far) = UnixStream::pair().unwrap();
    let ours: OwnedFd = far.try_clone().unwrap().into();
    let mut server = Command::new(program("test_server"))
        .stdin(Stdio::from(OwnedFd::from(far.try_clone().unwrap())))
        .stdout(Stdio::from(OwnedFd::from(far)))
        .spawn()
        .unwrap();
    near.write_all(one_shot().as_bytes()).unwrap();
    let mut output = Vec::new();
    while output.iter().filter(|byte| **byte == b'\n').count() < 2 {
        let mut chunk = [0; 1024];
        let read = near.read(&mut chunk).unwrap();
        output.extend_from_slice(&chunk[..read]);
    }
    assert!(
        !rustix::fs::fcntl_getfl(&ours)
            .unwrap()
            .contains(rustix::fs::OFlags::NONBLOCK)
    );
    near.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(server.wait().unwrap().success());
    drop(ours);
    near.read_to_end(&mut output).unwrap();
    expect_one_shot(&String::from_utf8(output).unwrap());
}

#[test]
fn a_pipe_is_not_made_non_blocking_for_its_other_owners() {
    let (input, mut requests) = std::io::pipe().unwrap();
    let (mut answers, output) = std::io::pipe().unwrap();
    let ours = [
        OwnedFd::from(input.try_clone().unwrap()),
        OwnedFd::from(output.try_clone().unwrap()),
    ];
    let mut server = Command::new(program("test_server"))
        .stdin(input)
        .stdout(output)
        .spawn()
        .unwrap();
    requests.write_all(one_shot().as_bytes()).unwrap();
    let mut chunk = [0; 1024];
    assert!(answers.read(&mut chunk).unwrap() > 0);
    for fd in &ours {
        assert!(
            !rustix::fs::fcntl_getfl(fd)
                .unwrap()
                .contains(rustix::fs::OFlags::NONBLOCK)
        );
    }
    drop(requests);
    drop(ours);
    answers.read_to_end(&mut Vec::new()).unwrap();
    assert!(server.wait().unwrap().success());
}

/// A server process that has answered the handshake.
fn started() -> (std::process::Child, std::process::ChildStdin, std::process::ChildStdout) {
    let mut server = Command::new(program("test_server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut requests, mut answers) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    requests.write_all(format!("{INITIALIZE}\n").as_bytes()).unwrap();
    let mut byte = [0];
    while byte != *b"\n" {
        answers.read_exact(&mut byte).unwrap();
    }
    (server, requests, answers)
}

#[test]
fn an_idle_server_ends_on_an_interrupt_without_a_trace() {
    let (server, _requests, _answers) = started();
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(rustix::process::Signal::INT.as_raw()));
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_server_whose_client_is_gone_ends_although_a_tool_blocks() {
    let (mut server, mut requests, answers) = started();
    requests
        .write_all(format!("{}\n", call(1, "block")).as_bytes())
        .unwrap();
    let start = Instant::now();
    drop(requests);
    drop(answers);
    assert!(server.wait().unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_server_whose_answers_nobody_reads_ends() {
    let (mut server, mut requests, answers) = started();
    drop(answers);
    requests.write_all(format!("{}\n", call(1, "echo")).as_bytes()).unwrap();
    assert!(server.wait().unwrap().success());
}
