//! Collects what each suite found and says it at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};

use crate::command::{self, Finished};
use crate::env::{Missing, Workspace};

/// What one runner counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skips: Vec<Skip>,
    /// What failed, by name. The counts are what holds: not every runner names each test.
    pub(crate) failures: Vec<String>,
}

/// Tests that were not run, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) count: u32,
    pub(crate) reason: String,
}

impl Tally {
    /// The tally of a check that is not made of tests: it passes or fails as a whole.
    pub(crate) fn whole(ok: bool) -> Self {
        Self {
            passed: u32::from(ok),
            failed: u32::from(!ok),
            ..Self::default()
        }
    }

    fn skipped(&self) -> u32 {
        self.skips.iter().map(|skip| skip.count).sum()
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skips.extend(other.skips);
        self.failures.extend(other.failures);
    }

    fn counts(&self) -> String {
        format!(
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed,
            self.skipped()
        )
    }
}

/// The whole run, suite by suite.
pub(crate) struct Report {
    ci: bool,
    suites: Vec<(&'static str, Tally, Duration)>,
}

impl Report {
    pub(crate) fn new(workspace: &Workspace) -> Self {
        Self {
            ci: workspace.ci,
            suites: Vec::new(),
        }
    }

    /// Runs a suite. An error that ends it early counts as one failure, a missing tool outside CI as one skip.
    pub(crate) fn suite(&mut self, name: &'static str, run: impl FnOnce(&mut Self) -> Result<()>) {
        println!("{name}");
        let started = Instant::now();
        self.suites.push((name, Tally::default(), Duration::ZERO));
        if let Err(error) = run(self) {
            if error.is::<Missing>() && !self.ci {
                self.skip(&format!("{error:#}"));
            } else {
                self.fail(&error);
            }
        }
        let (_, tally, took) = self.suites.last_mut().expect("the suite was pushed above");
        *took = started.elapsed();
        println!("  {}\n", tally.counts());
    }

    /// Runs a test runner and adds what `count` reads out of its output.
    pub(crate) fn runner(
        &mut self,
        title: &str,
        run: impl FnOnce() -> Result<Finished>,
        count: impl FnOnce(&Finished) -> Result<Tally>,
    ) {
        let started = command::begin(title);
        let result = run().and_then(|finished| {
            let mut tally = count(&finished)?;
            if finished.ok && tally.passed + tally.failed + tally.skipped() == 0 {
                anyhow::bail!("ran no test: a suite that tests nothing has failed");
            }
            if !finished.ok && tally.failed == 0 {
                tally.failed = 1;
            }
            let unnamed = (tally.failed as usize).saturating_sub(tally.failures.len());
            if unnamed > 0 {
                tally
                    .failures
                    .push(format!("{unnamed} without a name, see {}", finished.log.display()));
            }
            tally
                .failures
                .iter_mut()
                .for_each(|failure| *failure = format!("{title}: {failure}"));
            Ok((finished, tally))
        });
        match result {
            Ok((finished, tally)) => {
                command::end(&tally.counts(), started.elapsed());
                if !finished.ok {
                    println!("  {:#}", finished.error());
                }
                self.tally().add(tally);
            }
            Err(error) => {
                command::end("FAILED", started.elapsed());
                self.fail(&error.context(title.to_owned()));
            }
        }
    }

    /// Runs a program that counts no tests: it passes or fails as a whole.
    pub(crate) fn program(&mut self, title: &str, run: impl FnOnce() -> Result<Finished>) {
        let started = command::begin(title);
        let result = run().and_then(|finished| if finished.ok { Ok(()) } else { Err(finished.error()) });
        self.close(title, started, result);
    }

    /// Makes a check of our own.
    pub(crate) fn check(&mut self, title: &str, run: impl FnOnce() -> Result<()>) {
        let started = command::begin(title);
        let result = run();
        self.close(title, started, result);
    }

    /// Names something that was not tested, and why.
    pub(crate) fn skip(&mut self, reason: &str) {
        println!("  skipped: {reason}");
        self.tally().skips.push(Skip {
            count: 1,
            reason: reason.to_owned(),
        });
    }

    /// Prints the table, the reasons of the skips, what failed, and the closing line.
    pub(crate) fn finish(self) -> ExitCode {
        let mut total = Tally::default();
        println!(
            "{:<12} {:>8} {:>8} {:>8} {:>10}",
            "suite", "passed", "failed", "skipped", "time"
        );
        let mut reasons = Vec::new();
        let mut failures = Vec::new();
        for (name, tally, took) in self.suites {
            let (passed, failed, skipped) = (tally.passed, tally.failed, tally.skipped());
            println!(
                "{name:<12} {passed:>8} {failed:>8} {skipped:>8} {:>8.1} s",
                took.as_secs_f64()
            );
            reasons.extend(
                tally
                    .skips
                    .iter()
                    .map(|skip| format!("  {name}: {} × {}", skip.count, skip.reason)),
            );
            failures.extend(tally.failures.iter().map(|failure| format!("  {name}: {failure}")));
            total.add(tally);
        }
        for (what, lines) in [("skipped", reasons), ("failed", failures)] {
            if !lines.is_empty() {
                println!("\n{what}:\n{}", lines.join("\n"));
            }
        }
        println!("\n{}", total.counts());
        // A run in which nothing passed has shown nothing.
        if total.failed == 0 && total.passed > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn close(&mut self, title: &str, started: Instant, result: Result<()>) {
        match result {
            Ok(()) => {
                command::end("ok", started.elapsed());
                self.tally().add(Tally::whole(true));
            }
            Err(error) => {
                command::end("FAILED", started.elapsed());
                self.fail(&error.context(title.to_owned()));
            }
        }
    }

    fn fail(&mut self, error: &Error) {
        println!("  failed: {error:#}");
        // The cause is above in full; its first line is enough at the end.
        let failure = format!("{error:#}").lines().next().unwrap_or_default().to_owned();
        self.tally().add(Tally {
            failures: vec![failure],
            ..Tally::whole(false)
        });
    }

    fn tally(&mut self) -> &mut Tally {
        &mut self.suites.last_mut().expect("steps run inside a suite").1
    }
}
