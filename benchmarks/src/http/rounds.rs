//! The order of a run over HTTP, which is that of one over stdio: each subject once per round in each of its modes.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::load;
use super::subjects::{Mode, Subject};
use super::wire::Era;
use crate::rounds::rotation;
use crate::server_load::Failure;
use crate::stats;
use crate::subjects::Places;

/// Connections in the phase of many.
pub(crate) const CONNECTIONS: usize = 32;

/// How many calls a subject gets: as many as fit in a time budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Plan {
    pub(crate) warmup: usize,
    pub(crate) sequential: usize,
    pub(crate) concurrent: usize,
    /// Sessions whose memory is measured.
    pub(crate) sessions: usize,
}

impl Plan {
    const TRIAL: Self = Self {
        warmup: 2 * CONNECTIONS,
        sequential: 64,
        concurrent: 4 * CONNECTIONS,
        sessions: 0,
    };

    /// What fits in the budget at the speed that the last run found.
    fn for_speed(last: &Sample, budget: &Budget, mode: Mode) -> Self {
        let fits = |time: Duration, seconds_each: f64| (time.as_secs_f64() / seconds_each) as usize;
        let (alone, busy) = (last.p50_us / 1e6, 1.0 / last.calls_per_s);
        Self {
            warmup: fits(budget.warmup, busy).clamp(2 * CONNECTIONS, 20_000),
            sequential: fits(budget.sequential, alone).clamp(50, 20_000),
            concurrent: fits(budget.concurrent, busy).clamp(4 * CONNECTIONS, 100_000),
            sessions: match mode.0 {
                // Two requests each.
                Era::Legacy => fits(budget.sessions, 2.0 * busy).clamp(100, 10_000),
                Era::Modern => 0,
            },
        }
    }
}

/// Time for the phases of one subject's run.
#[derive(Debug)]
pub(crate) struct Budget {
    warmup: Duration,
    sequential: Duration,
    concurrent: Duration,
    sessions: Duration,
}

impl Budget {
    pub(crate) const FULL: Self = Self {
        warmup: Duration::from_millis(400),
        sequential: Duration::from_millis(500),
        concurrent: Duration::from_millis(700),
        sessions: Duration::from_secs(2),
    };
    pub(crate) const QUICK: Self = Self {
        warmup: Duration::from_millis(150),
        sequential: Duration::from_millis(150),
        concurrent: Duration::from_millis(250),
        sessions: Duration::from_millis(500),
    };
}

/// The figures of one run, and, as medians, of a subject in one mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// From the spawn to the answer to the first call.
    pub(crate) start_ms: f64,
    /// One call after the other on one connection.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Over many connections, one call under way on each.
    pub(crate) calls_per_s: f64,
    pub(crate) busy_p50_us: f64,
    pub(crate) busy_p99_us: f64,
    pub(crate) cpu_s_per_10k: f64,
    pub(crate) peak_kb: f64,
    /// Memory per idle session.
    pub(crate) idle_kb: Option<f64>,
}

impl Sample {
    fn median(samples: &[Self]) -> Option<Self> {
        let of = |field: fn(&Self) -> f64| stats::median(&samples.iter().map(field).collect::<Vec<_>>());
        let idle: Vec<f64> = samples.iter().filter_map(|sample| sample.idle_kb).collect();
        Some(Self {
            start_ms: of(|sample| sample.start_ms)?,
            p50_us: of(|sample| sample.p50_us)?,
            p99_us: of(|sample| sample.p99_us)?,
            calls_per_s: of(|sample| sample.calls_per_s)?,
            busy_p50_us: of(|sample| sample.busy_p50_us)?,
            busy_p99_us: of(|sample| sample.busy_p99_us)?,
            cpu_s_per_10k: of(|sample| sample.cpu_s_per_10k)?,
            peak_kb: of(|sample| sample.peak_kb)?,
            idle_kb: stats::median(&idle),
        })
    }
}

/// All that a run found out about one subject in one mode.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) subject: &'static Subject,
    pub(crate) mode: Mode,
    pub(crate) plan: Option<Plan>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failure: Option<Failure>,
}

impl Outcome {
    /// The medians over the rounds; `None` for a subject that failed, whatever it did before.
    pub(crate) fn median(&self) -> Option<Sample> {
        Sample::median(&self.samples).filter(|_| self.failure.is_none())
    }
}

/// Runs everything, telling `progress` what comes next.
pub(crate) fn run(
    subjects: &[(&'static Subject, Mode)],
    places: &Places,
    rounds: usize,
    budget: &Budget,
    mut progress: impl FnMut(&str),
) -> Vec<Outcome> {
    let new = |&(subject, mode): &(&'static Subject, Mode)| Outcome {
        subject,
        mode,
        plan: None,
        samples: Vec::new(),
        failure: None,
    };
    let mut outcomes: Vec<Outcome> = subjects.iter().map(new).collect();
    for outcome in &mut outcomes {
        progress(&format!("trial: {}", outcome.subject.name(outcome.mode)));
        match load::run(outcome.subject, outcome.mode, places, &Plan::TRIAL) {
            Ok(trial) => outcome.plan = Some(Plan::for_speed(&trial, budget, outcome.mode)),
            Err(failure) => outcome.failure = Some(failure),
        }
    }
    for round in 0..rounds {
        let begin = Instant::now();
        for turn in rotation(outcomes.len(), round) {
            let outcome = &mut outcomes[turn];
            let (Some(plan), None) = (outcome.plan, &outcome.failure) else {
                continue;
            };
            let name = outcome.subject.name(outcome.mode);
            progress(&format!("round {} of {rounds}: {name}", round + 1));
            match load::run(outcome.subject, outcome.mode, places, &plan) {
                Ok(sample) => {
                    outcome.plan = Some(Plan::for_speed(&sample, budget, outcome.mode));
                    outcome.samples.push(sample);
                }
                Err(failure) => outcome.failure = Some(failure),
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        progress(&format!("round {} of {rounds} took {seconds:.0} s", round + 1));
    }
    outcomes
}
