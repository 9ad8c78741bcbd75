//! The load on one server: calls one after the other, calls over many connections at once, sessions that do nothing.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::connection::{Connection, Reply};
use super::pool::Pool;
use super::rounds::{CONNECTIONS, Plan, Sample};
use super::subjects::{Mode, Subject};
use super::wire::{Answers, Client, Era, Ids, Target};
use crate::process::{CommandLine, Process, Result};
use crate::reply::{Checker, check_initialize};
use crate::server_load::Failure;
use crate::stats;
use crate::subjects::Places;

/// From the spawn to the last reply. The slowest subject known needs a third of it.
const DEADLINE: Duration = Duration::from_secs(60);

/// One run against new processes of the server. The last words of one that failed come with the error.
pub(crate) fn run(subject: &Subject, mode: Mode, places: &Places, plan: &Plan) -> std::result::Result<Sample, Failure> {
    let (command, accept) = (subject.command(mode, places), subject.accept(mode));
    let idle_kb = match plan.sessions {
        0 => None,
        count => Server::start(&command, mode, accept, DEADLINE)?.tell(|server| server.idle(count))?,
    };
    let sample = Server::start(&command, mode, accept, DEADLINE)?.tell(|server| server.measure(plan))?;
    Ok(Sample { idle_kb, ..sample })
}

/// A running subject.
pub(crate) struct Server {
    pub(crate) process: Process,
    mode: Mode,
    target: Target,
    address: SocketAddr,
    /// From the spawn to the first answer.
    start_ms: f64,
    /// Whether its first answer began a session.
    keeps_sessions: bool,
    /// The sessions of single clients.
    begun: Vec<String>,
    checker: Checker,
    ids: Ids,
}

impl Server {
    pub(crate) fn start(
        command: &CommandLine,
        mode: Mode,
        accept: &'static str,
        deadline: Duration,
    ) -> std::result::Result<Self, Failure> {
        let begin = Instant::now();
        let mut process = Process::spawn(command, deadline).map_err(|error| Failure {
            error: error.to_string(),
            stderr: String::new(),
        })?;
        let (address, target) = match listening(&mut process, accept) {
            Ok(listening) => listening,
            Err(error) => return Err(Failure::new(error.to_string(), process)),
        };
        let server = Self {
            process,
            mode,
            target,
            address,
            start_ms: 0.0,
            keeps_sessions: false,
            begun: Vec::new(),
            checker: Checker::default(),
            ids: Ids::new(),
        };
        server.begin(begin)
    }

    fn begin(mut self, begin: Instant) -> std::result::Result<Self, Failure> {
        let first = |server: &mut Self| {
            let mut connection = Connection::open(server.address)?;
            let client = server.client(&mut connection)?;
            server.sequential(&mut connection, &client, 1)
        };
        match first(&mut self) {
            Ok(_) => {
                self.start_ms = begin.elapsed().as_secs_f64() * 1e3;
                Ok(self)
            }
            Err(error) => Err(Failure::new(error.to_string(), self.process)),
        }
    }

    /// What work with it led to; with its stderr, if that failed.
    pub(crate) fn tell<T>(mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> std::result::Result<T, Failure> {
        work(&mut self).map_err(|error| Failure::new(error.to_string(), self.process))
    }

    fn measure(&mut self, plan: &Plan) -> Result<Sample> {
        let mut connection = Connection::open(self.address)?;
        let client = self.client(&mut connection)?;
        let mut pool = self.pool()?;
        let (clients, _) = self.clients(&pool)?;
        self.sequential(&mut connection, &client, plan.warmup / 2)?;
        self.concurrent(&mut pool, &clients, plan.warmup - plan.warmup / 2)?;

        let alone = self.sequential(&mut connection, &client, plan.sequential)?;
        let cpu = self.process.cpu_seconds()?;
        let begin = Instant::now();
        let busy = self.concurrent(&mut pool, &clients, plan.concurrent)?;
        let elapsed = begin.elapsed().as_secs_f64();
        let cpu = self.process.cpu_seconds()? - cpu;
        let calls = busy.len() as f64;
        let percentile = |times: &[f64], percent| stats::percentile(times, percent).unwrap_or(f64::NAN);
        Ok(Sample {
            start_ms: self.start_ms,
            p50_us: percentile(&alone, 50),
            p99_us: percentile(&alone, 99),
            calls_per_s: calls / elapsed,
            busy_p50_us: percentile(&busy, 50),
            busy_p99_us: percentile(&busy, 99),
            cpu_s_per_10k: cpu / calls * 1e4,
            peak_kb: self.process.peak_kb()? as f64,
            idle_kb: None,
        })
    }

    /// Memory per session of so many that do nothing, in kB; `None` where there are no sessions.
    fn idle(&mut self, count: usize) -> Result<Option<f64>> {
        if !self.keeps_sessions {
            return Ok(None);
        }
        // What the server allocates once, such as the threads of a runtime, is there before the sessions are counted.
        self.sessions((count / 20).max(2 * CONNECTIONS))?;
        let before = self.process.resident_kb()?;
        let begun = self.sessions(count)?.len();
        let after = self.process.resident_kb()?;
        Ok(Some((after as f64 - before as f64) / begun as f64))
    }

    /// Begins sessions, many at once; their ids.
    pub(crate) fn sessions(&mut self, count: usize) -> Result<Vec<String>> {
        let mut pool = self.pool()?;
        let (initialize, target) = (self.target.initialize(), self.target.clone());
        let mut begun = Vec::with_capacity(count);
        let mut left = count;
        let mut waits = vec![false; pool.len()];
        pool.run(|index, reply, request| {
            if let Some((reply, _)) = reply {
                if std::mem::replace(&mut waits[index], false) {
                    begun.push(session_of(&reply)?.ok_or("initialize began no session")?);
                    request.clone_from(&target.initialized(begun.last().map(String::as_str)));
                    return Ok(true);
                }
                accepted(&reply)?;
            }
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            waits[index] = true;
            request.clone_from(&initialize);
            Ok(true)
        })?;
        Ok(begun)
    }

    /// Ends the sessions of single clients.
    pub(crate) fn end_begun(&mut self) -> Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.end(&begun)
    }

    /// Ends sessions.
    pub(crate) fn end(&mut self, sessions: &[String]) -> Result<()> {
        let mut connection = Connection::open(self.address)?;
        for session in sessions {
            let reply = connection.ask(&self.target.delete(session))?;
            if !matches!(reply.status, 200..=204) {
                return Err(format!("a session did not end: {}", shown(&reply)).into());
            }
        }
        Ok(())
    }

    /// A client of the mode's era; one with a handshake has done it.
    fn client(&mut self, connection: &mut Connection) -> Result<Client> {
        let session = match self.mode.0 {
            Era::Modern => None,
            Era::Legacy => {
                let session = session_of(&connection.ask(&self.target.initialize())?)?;
                accepted(&connection.ask(&self.target.initialized(session.as_deref()))?)?;
                self.keeps_sessions = session.is_some();
                self.begun.extend(session.clone());
                session
            }
        };
        Ok(Client::new(&self.target, self.mode.0, session.as_deref()))
    }

    /// One client per connection, and the sessions of those that have one.
    pub(crate) fn clients(&mut self, pool: &Pool) -> Result<(Vec<Client>, Vec<String>)> {
        let sessions = match self.keeps_sessions {
            true => self.sessions(pool.len())?,
            false => Vec::new(),
        };
        let client = |index| Client::new(&self.target, self.mode.0, sessions.get(index).map(String::as_str));
        Ok(((0..pool.len()).map(client).collect(), sessions))
    }

    /// A client whose calls are never answered, where the subject has a tool for that.
    pub(crate) fn waiting_client(&self, session: Option<&str>) -> Client {
        Client::of_tool(&self.target, self.mode.0, session, "wait")
    }

    /// Connections to it.
    pub(crate) fn pool(&self) -> Result<Pool> {
        Pool::open(self.address, CONNECTIONS)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.ids.next()
    }

    /// Goes on in another mode, for a subject that lets its clients choose.
    pub(crate) fn switch(&mut self, mode: Mode, accept: &'static str) {
        self.mode = mode;
        self.target.accept = accept;
        self.keeps_sessions = mode.0 == Era::Legacy;
    }

    /// Calls one after the other; the round trip times in microseconds. A reply is checked after its time was taken.
    fn sequential(&mut self, connection: &mut Connection, client: &Client, count: usize) -> Result<Vec<f64>> {
        let mut request = Vec::new();
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let id = self.ids.next();
            client.call(id, &mut request);
            let begin = Instant::now();
            let reply = connection.ask(&request)?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            check(&mut self.checker, &reply, self.mode.1, id)?;
        }
        Ok(times)
    }

    /// Calls over all connections at once; the times from request to response in microseconds.
    pub(crate) fn concurrent(&mut self, pool: &mut Pool, clients: &[Client], count: usize) -> Result<Vec<f64>> {
        let mut times = Vec::with_capacity(count);
        let mut waiting = vec![0; pool.len()];
        let mut left = count;
        let (checker, ids, answers) = (&mut self.checker, &mut self.ids, self.mode.1);
        pool.run(|index, reply, request| {
            if let Some((reply, took)) = reply {
                times.push(took.as_secs_f64() * 1e6);
                check(checker, &reply, answers, waiting[index])?;
            }
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            waiting[index] = ids.next();
            clients[index].call(waiting[index], request);
            Ok(true)
        })?;
        Ok(times)
    }
}

/// The first line of a subject ends with its URL.
fn listening(process: &mut Process, accept: &'static str) -> Result<(SocketAddr, Target)> {
    let line = String::from_utf8_lossy(process.read_line()?).into_owned();
    let wrong = || format!("its first line does not end with a URL such as http://127.0.0.1:8000/mcp: {line}");
    let (_, rest) = line.trim().split_once("http://").ok_or_else(wrong)?;
    let (host, path) = rest.split_once('/').ok_or_else(wrong)?;
    let target = Target {
        host: host.to_owned(),
        path: format!("/{path}"),
        accept,
    };
    Ok((host.parse().map_err(|_| wrong())?, target))
}

/// The session that the answer to `initialize` begins, if any.
fn session_of(reply: &Reply<'_>) -> Result<Option<String>> {
    let mut answered = reply.status == 200;
    if answered {
        answered = false;
        for message in reply.messages() {
            answered |= check_initialize(message, Era::Legacy.revision())?;
        }
    }
    match answered {
        true => Ok(reply.session.map(str::to_owned)),
        false => Err(format!("initialize: {}", shown(reply)).into()),
    }
}

fn accepted(reply: &Reply<'_>) -> Result<()> {
    match reply.status {
        202 => Ok(()),
        _ => Err(format!("notifications/initialized: {}", shown(reply)).into()),
    }
}

/// Whether a response answers the call with this id, and in the way that is measured.
fn check(checker: &mut Checker, reply: &Reply<'_>, answers: Answers, id: u64) -> Result<()> {
    if reply.status != 200 {
        return Err(format!("tools/call: {}", shown(reply)).into());
    }
    if reply.is_events != (answers == Answers::Sse) {
        return Err(format!("not answered by {}: {}", answers.name(), shown(reply)).into());
    }
    let mut answered = 0;
    for message in reply.messages() {
        match checker.check(message)? {
            Some(other) if other != id => return Err(format!("call {id} got the reply of {other}").into()),
            found => answered += usize::from(found.is_some()),
        }
    }
    match answered {
        1 => Ok(()),
        _ => Err(format!("{answered} answers to call {id}: {}", shown(reply)).into()),
    }
}

fn shown(reply: &Reply<'_>) -> String {
    let body = &reply.body[..reply.body.len().min(400)];
    format!("status {}, {}", reply.status, String::from_utf8_lossy(body))
}
