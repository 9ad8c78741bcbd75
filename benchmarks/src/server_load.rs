//! The load on a server: a blocking client over its pipes that does as little as it can between two clock readings.

use std::time::{Duration, Instant};

use crate::process::{CommandLine, Process, Result};
use crate::reply::{Checker, check_initialize};
use crate::rounds::{Plan, Sample, WINDOW};
use crate::stats;
use crate::wire::{Answered, INITIALIZE, INITIALIZED, PROTOCOL_VERSION, Requests};

/// From the spawn to the last reply. The slowest subject known needs a tenth of it.
const DEADLINE: Duration = Duration::from_secs(60);

/// One run against one new process of the server. Its stderr comes with the error.
pub(crate) fn run(command: &CommandLine, plan: &Plan) -> std::result::Result<Sample, Failure> {
    let mut cold_start_ms = Vec::new();
    for _ in 0..plan.extra_starts {
        // Dropping the session kills it: only its start was asked for.
        cold_start_ms.push(Session::start(command)?.cold_start_ms);
    }
    let mut session = Session::start(command)?;
    cold_start_ms.push(session.cold_start_ms);
    match session.measure(plan) {
        Ok(sample) => Ok(Sample {
            start_ms: stats::median(&cold_start_ms).unwrap_or(f64::NAN),
            ..sample
        }),
        Err(error) => Err(Failure::new(error.to_string(), session.process)),
    }
}

/// Why a subject has no numbers.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) stderr: String,
}

impl Failure {
    pub(crate) fn new(error: String, process: Process) -> Self {
        Self {
            error,
            stderr: process.into_stderr(),
        }
    }
}

struct Session {
    process: Process,
    checker: Checker,
    cold_start_ms: f64,
    next_id: u64,
}

impl Session {
    fn start(command: &CommandLine) -> std::result::Result<Self, Failure> {
        let begin = Instant::now();
        let mut process = Process::spawn(command, DEADLINE).map_err(|error| Failure {
            error: error.to_string(),
            stderr: String::new(),
        })?;
        if let Err(error) = handshake(&mut process) {
            return Err(Failure::new(format!("initialize: {error}"), process));
        }
        let cold_start_ms = begin.elapsed().as_secs_f64() * 1e3;
        Ok(Self {
            process,
            checker: Checker::default(),
            cold_start_ms,
            next_id: 1,
        })
    }

    fn measure(&mut self, plan: &Plan) -> Result<Sample> {
        self.process.write(INITIALIZED)?;
        self.sequential(plan.warmup / 2)?;
        self.pipelined(plan.warmup - plan.warmup / 2)?;

        let times = self.sequential(plan.sequential)?;
        let cpu = self.process.cpu_seconds()?;
        let elapsed = self.pipelined(plan.pipelined)?;
        let cpu = self.process.cpu_seconds()? - cpu;

        let peak_kb = self.process.peak_kb()?;
        self.process.close()?;
        let calls = plan.pipelined as f64;
        Ok(Sample {
            start_ms: self.cold_start_ms,
            p50_us: stats::percentile(&times, 50).unwrap_or(f64::NAN),
            p99_us: stats::percentile(&times, 99).unwrap_or(f64::NAN),
            calls_per_s: calls / elapsed,
            cpu_s_per_10k: cpu / calls * 1e4,
            peak_kb: peak_kb as f64,
        })
    }

    /// Calls one after the other; the round trip times in microseconds. A reply is checked after its time was taken.
    fn sequential(&mut self, count: usize) -> Result<Vec<f64>> {
        let requests = self.requests(count);
        let mut times = Vec::with_capacity(count);
        for index in 0..count {
            let begin = Instant::now();
            self.process.write(requests.lines(index, index + 1))?;
            loop {
                let line = self.process.read_line()?;
                let elapsed = begin.elapsed();
                match self.checker.check(line)? {
                    Some(id) if id == requests.id(index) => {
                        times.push(elapsed.as_secs_f64() * 1e6);
                        break;
                    }
                    Some(id) => return Err(format!("call {} got the reply of {id}", requests.id(index)).into()),
                    None => {}
                }
            }
        }
        Ok(times)
    }

    /// Calls with `WINDOW` of them unanswered; how long all took, in seconds. For every reply that has arrived a new
    /// request leaves, and those that become due together leave in one write. A window fits in a pipe, so a blocking
    /// write cannot wait for a server that waits for us.
    fn pipelined(&mut self, count: usize) -> Result<f64> {
        let requests = self.requests(count);
        let mut answered = Answered::none_of(&requests);
        let (mut sent, mut replies) = (0, 0);
        let begin = Instant::now();
        while replies < count {
            let due = (replies + WINDOW).min(count);
            if due > sent {
                self.process.write(requests.lines(sent, due))?;
                sent = due;
            }
            replies += self.drain(&mut answered, sent)?;
        }
        Ok(begin.elapsed().as_secs_f64())
    }

    /// Waits for one line and takes all that came with it; how many of them were replies.
    fn drain(&mut self, answered: &mut Answered, sent: usize) -> Result<usize> {
        let mut replies = 0;
        loop {
            if let Some(id) = self.checker.check(self.process.read_line()?)? {
                answered.mark(id, sent)?;
                replies += 1;
            }
            if !self.process.has_line() {
                return Ok(replies);
            }
        }
    }

    fn requests(&mut self, count: usize) -> Requests {
        let requests = Requests::new(self.next_id, count);
        self.next_id += count as u64;
        requests
    }
}

fn handshake(process: &mut Process) -> Result<()> {
    process.write(INITIALIZE)?;
    while !check_initialize(process.read_line()?, PROTOCOL_VERSION)? {}
    Ok(())
}
