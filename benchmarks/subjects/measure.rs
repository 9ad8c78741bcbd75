//! What the client programs in Rust share: their arguments, their clocks and the line of JSON at the end.

use std::error::Error;

use serde::Serialize;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the arguments ask for.
pub(crate) struct Plan {
    pub(crate) warmup: u64,
    pub(crate) calls: u64,
    pub(crate) pipelined: u64,
    pub(crate) window: u64,
    pub(crate) command: Vec<String>,
}

impl Plan {
    pub(crate) fn read() -> Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let mut number = || -> Result<u64> {
            let argument = arguments
                .next()
                .ok_or("usage: WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]")?;
            Ok(argument.parse()?)
        };
        Ok(Self {
            warmup: number()?,
            calls: number()?,
            pipelined: number()?,
            window: number()?,
            command: arguments.collect(),
        })
    }
}

/// What was measured.
pub(crate) struct Load {
    /// Of single calls, in microseconds.
    pub(crate) times: Vec<f64>,
    /// Seconds, and seconds of processor time, of the calls in flight.
    pub(crate) elapsed: f64,
    pub(crate) cpu: f64,
    pub(crate) pipelined: u64,
}

impl Load {
    pub(crate) fn report(mut self, connect_ms: f64, checked: u64) -> Result<()> {
        self.times.sort_by(f64::total_cmp);
        let report = Report {
            connect_ms,
            p50_us: percentile(&self.times, 50),
            p99_us: percentile(&self.times, 99),
            calls_per_s: self.pipelined as f64 / self.elapsed,
            cpu_s_per_10k: self.cpu / self.pipelined as f64 * 1e4,
            peak_kb: peak_kb()?,
            checked,
        };
        println!("{}", serde_json::to_string(&report)?);
        Ok(())
    }
}

#[derive(Serialize)]
struct Report {
    connect_ms: f64,
    p50_us: f64,
    p99_us: f64,
    calls_per_s: f64,
    cpu_s_per_10k: f64,
    peak_kb: u64,
    checked: u64,
}

pub(crate) fn text(id: u64) -> String {
    format!("message {id:08} of the benchmark")
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

/// User and system time of this process so far.
pub(crate) fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock id is a constant that every Linux has, and `now` is a timespec to be filled.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn peak_kb() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
