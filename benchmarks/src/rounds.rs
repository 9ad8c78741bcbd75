//! The order of a run: each subject once per round, in a rotated order, so that whatever the machine does meanwhile
//! hits everybody alike.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::server_load::Failure;
use crate::stats;
use crate::subjects::{CLIENTS_SERVER, HTTP_CLIENTS_SERVER, Places, Role, Subject};
use crate::{client_load, server_load};

/// Calls in flight in the pipelined phase.
pub(crate) const WINDOW: usize = 64;

/// How many calls a subject gets: as many as fit in a time budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Plan {
    /// Starts of a server beside the one that is then loaded.
    pub(crate) extra_starts: usize,
    pub(crate) warmup: usize,
    pub(crate) sequential: usize,
    pub(crate) pipelined: usize,
}

impl Plan {
    /// Enough calls to learn a subject's speed, and to find out whether it works at all.
    const TRIAL: Self = Self {
        extra_starts: 0,
        warmup: WINDOW,
        sequential: 64,
        pipelined: 4 * WINDOW,
    };

    /// What fits in the budget at the speed that the trial found.
    fn for_speed(trial: &Sample, budget: &Budget) -> Self {
        let fits = |time: Duration, seconds_each: f64| (time.as_secs_f64() / seconds_each) as usize;
        let sequential_each = trial.p50_us / 1e6;
        Self {
            extra_starts: fits(budget.starts, trial.start_ms / 1e3).min(budget.most_starts),
            warmup: fits(budget.warmup, sequential_each).clamp(2 * WINDOW, 10_000),
            sequential: fits(budget.sequential, sequential_each).clamp(200, 20_000),
            pipelined: fits(budget.pipelined, 1.0 / trial.calls_per_s).clamp(4 * WINDOW, 100_000),
        }
    }
}

/// Time for the phases of one subject's run.
#[derive(Debug)]
pub(crate) struct Budget {
    starts: Duration,
    most_starts: usize,
    warmup: Duration,
    sequential: Duration,
    pipelined: Duration,
}

impl Budget {
    pub(crate) const FULL: Self = Self {
        starts: Duration::from_secs(1),
        most_starts: 20,
        warmup: Duration::from_millis(600),
        sequential: Duration::from_millis(500),
        pipelined: Duration::from_millis(700),
    };
    pub(crate) const QUICK: Self = Self {
        starts: Duration::from_millis(200),
        most_starts: 2,
        warmup: Duration::from_millis(200),
        sequential: Duration::from_millis(150),
        pipelined: Duration::from_millis(250),
    };
}

/// The figures of one run, and, as medians, of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// A server: from the spawn to the answer of `initialize`. A client: from its construction to the end of the
    /// handshake, in its own process, which runs already.
    pub(crate) start_ms: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) calls_per_s: f64,
    pub(crate) cpu_s_per_10k: f64,
    pub(crate) peak_kb: f64,
}

impl Sample {
    pub(crate) fn values(&self) -> [f64; 6] {
        [
            self.start_ms,
            self.p50_us,
            self.p99_us,
            self.calls_per_s,
            self.cpu_s_per_10k,
            self.peak_kb,
        ]
    }

    fn median(samples: &[Self]) -> Option<Self> {
        let of = |field: fn(&Self) -> f64| stats::median(&samples.iter().map(field).collect::<Vec<_>>());
        Some(Self {
            start_ms: of(|sample| sample.start_ms)?,
            p50_us: of(|sample| sample.p50_us)?,
            p99_us: of(|sample| sample.p99_us)?,
            calls_per_s: of(|sample| sample.calls_per_s)?,
            cpu_s_per_10k: of(|sample| sample.cpu_s_per_10k)?,
            peak_kb: of(|sample| sample.peak_kb)?,
        })
    }
}

/// All that a run found out about one subject.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) subject: &'static Subject,
    /// For its next run.
    pub(crate) plan: Option<Plan>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failure: Option<Failure>,
}

impl Outcome {
    /// The medians over the rounds; `None` for a subject that failed, whatever it did before.
    pub(crate) fn median(&self) -> Option<Sample> {
        if self.failure.is_some() {
            None
        } else {
            Sample::median(&self.samples)
        }
    }
}

/// Runs everything, telling `progress` what comes next.
pub(crate) fn run(
    subjects: &[&'static Subject],
    places: &Places,
    rounds: usize,
    budget: &Budget,
    mut progress: impl FnMut(&str),
) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = subjects
        .iter()
        .map(|subject| Outcome {
            subject,
            plan: None,
            samples: Vec::new(),
            failure: None,
        })
        .collect();
    for outcome in &mut outcomes {
        progress(&format!("trial: {}", outcome.subject.name()));
        match run_once(outcome.subject, places, &Plan::TRIAL) {
            Ok(trial) => outcome.plan = Some(Plan::for_speed(&trial, budget)),
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
            progress(&format!("round {} of {rounds}: {}", round + 1, outcome.subject.name()));
            match run_once(outcome.subject, places, &plan) {
                Ok(sample) => {
                    // A compiler at run time makes a subject many times faster than its trial was: plan anew.
                    outcome.plan = Some(Plan::for_speed(&sample, budget));
                    outcome.samples.push(sample);
                }
                Err(failure) => outcome.failure = Some(failure),
            }
        }
        progress(&format!(
            "round {} of {rounds} took {:.0} s",
            round + 1,
            begin.elapsed().as_secs_f64()
        ));
    }
    outcomes
}

fn run_once(subject: &Subject, places: &Places, plan: &Plan) -> Result<Sample, Failure> {
    let command = subject.command(places);
    match subject.role {
        Role::Server => server_load::run(&command, plan),
        Role::Client => client_load::run(&command, &places.fill_in(CLIENTS_SERVER), plan),
        Role::HttpClient => client_load::run(&command, &places.fill_in(HTTP_CLIENTS_SERVER), plan),
    }
}

/// Each round begins one subject later, and every other round runs backwards: neither the place in the round nor the
/// neighbour stays the same.
pub(crate) fn rotation(count: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if count > 0 {
        order.rotate_left(round % count);
    }
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(p50_us: f64, calls_per_s: f64, start_ms: f64) -> Sample {
        Sample {
            start_ms,
            p50_us,
            p99_us: p50_us,
            calls_per_s,
            cpu_s_per_10k: 1.0,
            peak_kb: 1.0,
        }
    }

    #[test]
    fn every_round_runs_everybody_once() {
        for round in 0..9 {
            let mut order = rotation(4, round);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3], "round {round}");
        }
        assert_ne!(rotation(4, 0), rotation(4, 1));
        assert!(rotation(0, 3).is_empty());
    }

    #[test]
    fn slow_subjects_get_fewer_calls() {
        let fast = Plan::for_speed(&sample(16.0, 400_000.0, 1.4), &Budget::FULL);
        let slow = Plan::for_speed(&sample(3_500.0, 360.0, 2_000.0), &Budget::FULL);
        assert_eq!(
            fast,
            Plan {
                extra_starts: 20,
                warmup: 10_000,
                sequential: 20_000,
                pipelined: 100_000
            }
        );
        assert_eq!(
            slow,
            Plan {
                extra_starts: 0,
                warmup: 171,
                sequential: 200,
                pipelined: 256
            }
        );
    }

    #[test]
    fn the_median_is_taken_per_figure() {
        let samples = [sample(1.0, 30.0, 5.0), sample(2.0, 10.0, 5.0), sample(3.0, 20.0, 5.0)];
        let median = Sample::median(&samples).expect("three samples");
        assert_eq!((median.p50_us, median.calls_per_s), (2.0, 20.0));
        assert_eq!(Sample::median(&[]), None);
    }
}
