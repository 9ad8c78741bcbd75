//! A soak of our own server: very many calls of every kind, and calls whose clients leave. After it no entry may be left.

use std::time::{Duration, Instant};

use super::connection::Connection;
use super::load::Server;
use super::subjects::{Mode, SUBJECTS, Subject};
use super::wire::{Answers, Era};
use crate::process::Result;
use crate::server_load::Failure;
use crate::subjects::{Kind, Language, Places};

const DEADLINE: Duration = Duration::from_secs(1800);
/// Calls that are never answered, as their clients leave.
const LEFT: usize = 1000;
/// How long the server may take to find out that clients have left.
const SETTLE: Duration = Duration::from_secs(10);

/// What a soak found.
#[derive(Debug)]
pub(crate) struct Soaked {
    pub(crate) calls: usize,
    pub(crate) seconds: f64,
    /// Resident memory after the first tenth and at the end, in kB.
    pub(crate) resident_kb: [u64; 2],
    /// What the server holds at the end, as it says.
    pub(crate) left: String,
}

impl std::fmt::Display for Soaked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            calls,
            seconds,
            resident_kb: [before, after],
            left,
        } = self;
        write!(
            f,
            "{calls} calls in {seconds:.0} s; resident after a tenth of them {before} kB, after all {after} kB; left: {left}"
        )
    }
}

/// Makes so many calls of our server in Rust, a quarter in each mode.
///
/// # Errors
/// When a reply is wrong, or anything is left at the end.
pub(crate) fn run(places: &Places, calls: usize) -> std::result::Result<Soaked, Failure> {
    let ours = |subject: &&Subject| subject.kind == Kind::Ours && subject.language == Language::Rust;
    let subject = SUBJECTS.iter().find(ours).ok_or_else(|| Failure {
        error: "there is no subject of ours in Rust".to_owned(),
        stderr: String::new(),
    })?;
    let first = (Era::Legacy, Answers::Json);
    let server = Server::start(&subject.command(first, places), first, subject.accept(first), DEADLINE)?;
    server.tell(|server| soak(server, subject, calls))
}

fn soak(server: &mut Server, subject: &Subject, calls: usize) -> Result<Soaked> {
    let begin = Instant::now();
    let warm = part(server, subject, calls / 10)?;
    let before = server.process.resident_kb()?;
    let made = warm + part(server, subject, calls - warm)?;
    let after = server.process.resident_kb()?;
    server.end_begun()?;
    Ok(Soaked {
        calls: made,
        seconds: begin.elapsed().as_secs_f64(),
        resident_kb: [before, after],
        left: nothing_left(server)?,
    })
}

/// Calls in every mode, in sessions that end; how many.
fn part(server: &mut Server, subject: &Subject, calls: usize) -> Result<usize> {
    let mut made = 0;
    for mode in subject.modes {
        server.switch(*mode, subject.accept(*mode));
        let mut pool = server.pool()?;
        let (clients, sessions) = server.clients(&pool)?;
        made += server
            .concurrent(&mut pool, &clients, calls / subject.modes.len())?
            .len();
        leave(server, *mode, LEFT * calls / 4_000_000)?;
        server.end(&sessions)?;
    }
    Ok(made)
}

/// Makes calls that wait, and leaves.
fn leave(server: &mut Server, mode: Mode, count: usize) -> Result<()> {
    let sessions = match mode.0 {
        Era::Modern => Vec::new(),
        Era::Legacy => server.sessions(1)?,
    };
    let client = server.waiting_client(sessions.first().map(String::as_str));
    let mut request = Vec::new();
    for _ in 0..count {
        let id = server.next_id();
        client.call(id, &mut request);
        Connection::open(server.address())?.send(&request)?;
    }
    server.end(&sessions)
}

/// What the server says that it holds, once that is nothing.
fn nothing_left(server: &mut Server) -> Result<String> {
    let begin = Instant::now();
    loop {
        server.process.write(b"stats\n")?;
        let stats = String::from_utf8_lossy(server.process.read_line()?).into_owned();
        let counts: std::collections::BTreeMap<String, u64> = serde_json::from_str(&stats)?;
        match counts.values().all(|count| *count == 0) {
            true => return Ok(stats),
            false if begin.elapsed() > SETTLE => return Err(format!("entries are left: {stats}").into()),
            false => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
