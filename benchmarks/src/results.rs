//! What a run found, in the shape that all its reports are made from, and as JSON.

use serde::Serialize;

use crate::machine::{self, Machine};
use crate::placement::Placement;
use crate::rounds::{Outcome, Plan, Sample, WINDOW};
use crate::server_load::Failure;
use crate::stats;
use crate::subjects::{Kind, Language, Places, Role};
use crate::svg::{Line, Panel, Picture, Section};
use crate::table::{count, microseconds, milliseconds};

#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) placement: Placement,
    pub(crate) rounds: usize,
    pub(crate) calls_in_flight: usize,
    pub(crate) subjects: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) plan: Option<Plan>,
    /// The median of each figure over the rounds.
    pub(crate) median: Option<Sample>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failure: Option<Failed>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Failed {
    pub(crate) error: String,
    pub(crate) stderr: String,
}

impl From<Failure> for Failed {
    fn from(Failure { error, stderr }: Failure) -> Self {
        Self { error, stderr }
    }
}

/// What a figure is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// The bare loop in the subject's own language.
    BareOwn,
    BareRust,
    /// The official SDK of the subject's language.
    Official,
}

impl Base {
    pub(crate) const ALL: [Self; 3] = [Self::BareOwn, Self::BareRust, Self::Official];
}

impl Results {
    pub(crate) fn new(
        machine: Machine,
        placement: Placement,
        rounds: usize,
        outcomes: Vec<Outcome>,
        places: &Places,
    ) -> Self {
        let subjects = outcomes.into_iter().map(|outcome| Row::new(outcome, places)).collect();
        Self {
            machine,
            placement,
            rounds,
            calls_in_flight: WINDOW,
            subjects,
        }
    }

    /// The machine's facts and how the run was done, as pairs of a name and a text.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.machine.facts().to_vec();
        facts.push(("placement", self.placement.in_words().to_owned()));
        facts.push((
            "rounds",
            format!("{}, every subject once in each; medians over the rounds", self.rounds),
        ));
        facts
    }

    pub(crate) fn rows(&self, role: Role) -> impl Iterator<Item = &Row> {
        self.subjects.iter().filter(move |row| row.role == role)
    }

    pub(crate) fn failed(&self) -> impl Iterator<Item = (&Row, &Failed)> {
        self.subjects
            .iter()
            .filter_map(|row| Some((row, row.failure.as_ref()?)))
    }

    /// The figures as a picture, for the roles that were measured.
    pub(crate) fn picture(&self) -> String {
        let section = |role, heading: &str, start| Section {
            heading: heading.to_owned(),
            panels: [
                Panel {
                    title: "calls/s, 64 in flight",
                    better: "longer is better",
                    show: count,
                },
                Panel {
                    title: "round trip, median",
                    better: "shorter is better",
                    show: microseconds,
                },
                Panel {
                    title: start,
                    better: "shorter is better",
                    show: milliseconds,
                },
            ],
            lines: self.rows(role).map(Row::line).collect(),
        };
        let picture = Picture {
            title: "MCP over stdio, one tool that echoes a text",
            label: "MCP over stdio: speed of servers and clients",
            bare: "bare loop: the least a program can do",
            sections: vec![
                section(Role::Server, "Servers", "cold start"),
                section(Role::Client, "Clients, calling the bare loop in Rust", "connect"),
                section(Role::HttpClient, "Clients over HTTP, calling bare axum", "connect"),
            ],
            facts: self.machine.under_picture(self.rounds),
        };
        picture.draw()
    }

    /// A figure of this row divided by the same figure of its base in the same round, the median over the rounds; `None`
    /// if either is missing.
    pub(crate) fn ratio(&self, row: &Row, base: Base, figure: fn(&Sample) -> f64) -> Option<f64> {
        let (language, kind) = match base {
            Base::BareOwn => (row.language, Kind::Bare),
            Base::BareRust => (Language::Rust, Kind::Bare),
            Base::Official => (row.language, Kind::Official),
        };
        let base = self
            .rows(row.role)
            .find(|other| (other.language, other.kind) == (language, kind))?;
        stats::median_ratio(row.rounds()?, base.rounds()?, figure)
    }
}

impl Row {
    fn new(outcome: Outcome, places: &Places) -> Self {
        let subject = outcome.subject;
        Self {
            name: subject.name(),
            role: subject.role,
            language: subject.language,
            kind: subject.kind,
            title: subject.title,
            version: machine::package_version(subject.package, places),
            plan: outcome.plan,
            median: outcome.median(),
            samples: outcome.samples,
            failure: outcome.failure.map(Failed::from),
        }
    }

    /// What was measured in each round, unless it failed.
    fn rounds(&self) -> Option<&[Sample]> {
        self.median.as_ref().map(|_| &*self.samples)
    }

    fn line(&self) -> Line {
        let missing = if self.failure.is_some() {
            "failed"
        } else {
            "not measured"
        };
        let figures = self.median.as_ref();
        Line {
            language: self.language,
            kind: self.kind,
            title: self.title,
            figures: figures
                .map(|sample| [sample.calls_per_s, sample.p50_us, sample.start_ms])
                .ok_or(missing),
        }
    }

    /// Title and version, as far as there is one.
    pub(crate) fn label(&self) -> String {
        self.version
            .as_ref()
            .map_or_else(|| self.title.to_owned(), |version| format!("{} {version}", self.title))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Three servers, one of them failed, and a client.
    pub(crate) fn example() -> Results {
        let sample = |[start_ms, p50_us, p99_us, calls_per_s, cpu_s_per_10k, peak_kb]: [f64; 6]| Sample {
            start_ms,
            p50_us,
            p99_us,
            calls_per_s,
            cpu_s_per_10k,
            peak_kb,
        };
        let row = |role, language, kind, title, figures: Option<[f64; 6]>| Row {
            name: format!("{language}-{title}"),
            role,
            language,
            kind,
            title,
            version: (kind == Kind::Official).then(|| "2.3.0".to_owned()),
            plan: None,
            median: figures.map(sample),
            samples: figures.map(sample).into_iter().collect(),
            failure: figures.is_none().then(|| Failed {
                error: "it closed its output".to_owned(),
                stderr: "No module <oxmcp>".to_owned(),
            }),
        };
        Results {
            machine: Machine {
                date: "2026-01-01".to_owned(),
                cpu: "Some CPU".to_owned(),
                cores: 2,
                memory_gib: 24,
                kernel: "6.1".to_owned(),
                load_before: 0.1,
                rust: "rustc 1.95.0".to_owned(),
                python: "Python 3.11.7".to_owned(),
                node: "20.20.2".to_owned(),
                java: None,
                swift: None,
            },
            placement: Placement::One,
            rounds: 3,
            calls_in_flight: WINDOW,
            subjects: vec![
                row(
                    Role::Server,
                    Language::Rust,
                    Kind::Bare,
                    "bare loop",
                    Some([1.4, 16.0, 30.0, 4e5, 0.02, 3e3]),
                ),
                row(Role::Server, Language::Python, Kind::Ours, "oxmcp", None),
                row(
                    Role::Server,
                    Language::Python,
                    Kind::Official,
                    "official SDK",
                    Some([1240.0, 1500.0, 2500.0, 630.0, 15.0, 9e4]),
                ),
                row(
                    Role::Client,
                    Language::Rust,
                    Kind::Bare,
                    "bare loop",
                    Some([2.0, 16.0, 30.0, 3e5, 0.02, 3e3]),
                ),
            ],
        }
    }

    #[test]
    fn ratios_are_taken_within_a_role_to_what_was_measured() {
        let results = example();
        let official = &results.subjects[2];
        assert_eq!(
            results.ratio(official, Base::Official, |sample| sample.p50_us),
            Some(1.0)
        );
        assert_eq!(
            results.ratio(official, Base::BareRust, |sample| sample.p50_us),
            Some(1500.0 / 16.0)
        );
        assert_eq!(
            results.ratio(official, Base::BareOwn, |sample| sample.p50_us),
            None,
            "no bare loop in Python"
        );
        assert_eq!(
            results.ratio(&results.subjects[1], Base::BareRust, |sample| sample.p50_us),
            None,
            "it failed"
        );
        assert_eq!(results.failed().count(), 1);
    }
}
