//! What a run over HTTP found, as JSON and as tables.

use std::fmt::Write;

use serde::Serialize;

use super::rounds::{CONNECTIONS, Outcome, Plan, Sample};
use super::wire::{Answers, Era};
use crate::machine::{self, Machine};
use crate::placement::Placement;
use crate::results::Failed;
use crate::stats;
use crate::subjects::{Kind, Language, Places};
use crate::svg::{Line, Panel, Picture, Section};
use crate::table::{aligned, count, microseconds, milliseconds, piped, significant};

#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) placement: Placement,
    pub(crate) rounds: usize,
    pub(crate) connections: usize,
    pub(crate) subjects: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) era: Era,
    pub(crate) answers: Answers,
    pub(crate) plan: Option<Plan>,
    /// The median of each figure over the rounds.
    pub(crate) median: Option<Sample>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failure: Option<Failed>,
}

type Column = (&'static str, fn(&Sample) -> String);

const COLUMNS: [Column; 9] = [
    ("start", |sample| milliseconds(sample.start_ms)),
    ("round trip p50", |sample| microseconds(sample.p50_us)),
    ("p99", |sample| microseconds(sample.p99_us)),
    ("32 connections", |sample| format!("{}/s", count(sample.calls_per_s))),
    ("p50 of these", |sample| microseconds(sample.busy_p50_us)),
    ("p99 of these", |sample| microseconds(sample.busy_p99_us)),
    ("CPU per 10,000", |sample| {
        format!("{} s", significant(sample.cpu_s_per_10k))
    }),
    ("peak memory", |sample| megabytes(sample.peak_kb / 1024.0)),
    ("idle session", |sample| {
        sample
            .idle_kb
            .map_or_else(|| "-".to_owned(), |kb| format!("{} kB", significant(kb)))
    }),
];

type Compared = (&'static str, fn(&Sample) -> f64);

const COMPARED: [Compared; 3] = [
    ("round trip", |sample| sample.p50_us),
    ("calls/s", |sample| sample.calls_per_s),
    ("CPU", |sample| sample.cpu_s_per_10k),
];

const BASES: [(&str, Base); 2] = [("bare", Base::Bare), ("SDK", Base::Official)];

/// What a figure is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// Bare axum that answers the same requests by JSON.
    Bare,
    /// The official SDK of the subject's language in the same mode.
    Official,
}

const READING: &str = "Ratios: the subject's figure divided by that of bare axum with JSON answers in the same era (bare), \
and of the official SDK of its language in the same era and with the same kind of answers (SDK). For times and CPU less \
is better, for calls/s more.";

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
            connections: CONNECTIONS,
            subjects,
        }
    }

    pub(crate) fn failed(&self) -> impl Iterator<Item = (&Row, &Failed)> {
        let failed = |row| Some((row, Option::as_ref(Row::failure(row))?));
        self.subjects.iter().filter_map(failed)
    }

    fn ratio(&self, row: &Row, base: Base, figure: fn(&Sample) -> f64) -> Option<f64> {
        let (language, kind, answers) = match base {
            Base::Bare => (Language::Rust, Kind::Bare, Answers::Json),
            Base::Official => (row.language, Kind::Official, row.answers),
        };
        let base = self.subjects.iter().find(|other| {
            (other.language, other.kind, other.answers, other.era) == (language, kind, answers, row.era)
        })?;
        if row.median.is_none() || base.median.is_none() {
            return None;
        }
        stats::median_ratio(&row.samples, &base.samples, figure)
    }

    /// The figures with JSON answers as a picture; all others are in the tables.
    pub(crate) fn picture(&self) -> String {
        let section = |era: Era, heading: &str| Section {
            heading: heading.to_owned(),
            panels: [
                Panel {
                    title: "calls/s, 32 connections",
                    better: "longer is better",
                    show: count,
                },
                Panel {
                    title: "round trip, median",
                    better: "shorter is better",
                    show: microseconds,
                },
                Panel {
                    title: "peak memory",
                    better: "shorter is better",
                    show: megabytes,
                },
            ],
            lines: self
                .subjects
                .iter()
                .filter(|row| row.era == era && row.answers == Answers::Json)
                .map(Row::bars)
                .collect(),
        };
        let picture = Picture {
            title: "MCP servers over HTTP, one tool that echoes a text",
            label: "MCP servers over HTTP: speed and memory",
            bare: "bare axum: the least that speaks HTTP",
            sections: vec![
                section(Era::Legacy, "With a handshake and sessions (2025-11-25), JSON answers"),
                section(Era::Modern, "Each request for itself (2026-07-28), JSON answers"),
            ],
            facts: self.machine.under_picture(self.rounds),
        };
        picture.draw()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.machine.facts().to_vec();
        facts.push(("placement", self.placement.in_words().to_owned()));
        let rounds = self.rounds;
        facts.push((
            "rounds",
            format!("{rounds}, every subject once in each; medians over the rounds"),
        ));
        facts
    }

    fn figures(&self) -> Vec<Vec<String>> {
        let mut table = vec![heading(COLUMNS.iter().map(|(name, _)| (*name).to_owned()))];
        for row in &self.subjects {
            let shown = |show: fn(&Sample) -> String| row.median.as_ref().map_or_else(|| row.missing(), show);
            table.push(row.line(COLUMNS.iter().map(|(_, show)| shown(*show))));
        }
        table
    }

    fn ratios(&self) -> Vec<Vec<String>> {
        let names = COMPARED
            .iter()
            .flat_map(|(name, _)| BASES.map(|(base, _)| format!("{name} / {base}")));
        let mut table = vec![heading(names)];
        for row in &self.subjects {
            let cells = COMPARED.iter().flat_map(|(_, figure)| {
                BASES.map(|(_, base)| {
                    let ratio = self.ratio(row, base, *figure);
                    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{}×", significant(ratio)))
                })
            });
            table.push(row.line(cells));
        }
        table
    }
}

impl Row {
    fn new(outcome: Outcome, places: &Places) -> Self {
        let subject = outcome.subject;
        Self {
            name: subject.name(outcome.mode),
            language: subject.language,
            kind: subject.kind,
            title: subject.title,
            version: machine::package_version(subject.package, places),
            era: outcome.mode.0,
            answers: outcome.mode.1,
            plan: outcome.plan,
            median: outcome.median(),
            samples: outcome.samples,
            failure: outcome.failure.map(Failed::from),
        }
    }

    fn failure(&self) -> &Option<Failed> {
        &self.failure
    }

    fn line(&self, cells: impl Iterator<Item = String>) -> Vec<String> {
        let title = match &self.version {
            Some(version) => format!("{} {version}", self.title),
            None => self.title.to_owned(),
        };
        let mode = format!("{}, {}", self.era.name(), self.answers.name());
        [self.language.to_string(), title, mode]
            .into_iter()
            .chain(cells)
            .collect()
    }

    fn bars(&self) -> Line {
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
                .map(|sample| [sample.calls_per_s, sample.p50_us, sample.peak_kb / 1024.0])
                .ok_or(missing),
        }
    }

    fn missing(&self) -> String {
        if self.failure.is_some() { "failed" } else { "-" }.to_owned()
    }
}

fn megabytes(figure: f64) -> String {
    format!("{} MB", significant(figure))
}

fn heading(names: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::repeat_n(String::new(), 3).chain(names).collect()
}

pub(crate) fn terminal(results: &Results) -> String {
    let mut text = String::new();
    for (name, fact) in results.facts() {
        let _ = writeln!(text, "{:<22}{fact}", format!("{name}:"));
    }
    let _ = write!(
        text,
        "\nServers over HTTP\n{}\n{}\n{READING}\n",
        aligned(&results.figures(), 3),
        aligned(&results.ratios(), 3)
    );
    for (row, failed) in results.failed() {
        let _ = writeln!(text, "\nFAILED {}: {}", row.name, failed.error);
        for line in failed.stderr.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// The part of `RESULTS.md` about HTTP.
pub(crate) fn markdown(results: &Results) -> String {
    let mut text = format!(
        "# Results over HTTP\n\n`cargo xtask bench --transport http` writes this part. What is measured, and how, is in \
         [README.md](README.md).\n\n![Bars of the figures with JSON answers](results/http.svg)\n\n{}\n{}\n{READING}\n\n| | |\n| --- | --- |\n",
        piped(&results.figures(), 3),
        piped(&results.ratios(), 3)
    );
    for (name, fact) in results.facts() {
        let _ = writeln!(text, "| {name} | {fact} |");
    }
    if results.failed().next().is_some() {
        text.push_str("\nFailed:\n\n");
        for (row, failed) in results.failed() {
            let _ = writeln!(text, "- {}: {}", row.name, failed.error);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Kind, answers: Answers, median: Option<f64>) -> Row {
        let sample = |value| Sample {
            start_ms: value,
            p50_us: value,
            p99_us: value,
            calls_per_s: value,
            busy_p50_us: value,
            busy_p99_us: value,
            cpu_s_per_10k: value,
            peak_kb: value,
            idle_kb: None,
        };
        Row {
            name: format!("{kind:?}"),
            language: Language::Rust,
            kind,
            title: "it",
            version: None,
            era: Era::Modern,
            answers,
            plan: None,
            median: median.map(sample),
            samples: median.map(sample).into_iter().collect(),
            failure: median.is_none().then(|| Failed {
                error: "it closed the connection".to_owned(),
                stderr: "no such thing".to_owned(),
            }),
        }
    }

    fn example() -> Results {
        Results {
            machine: crate::results::tests::example().machine,
            placement: Placement::One,
            rounds: 3,
            connections: CONNECTIONS,
            subjects: vec![
                row(Kind::Bare, Answers::Json, Some(2.0)),
                row(Kind::Bare, Answers::Sse, Some(8.0)),
                row(Kind::Official, Answers::Sse, Some(3.0)),
                row(Kind::Ours, Answers::Sse, Some(6.0)),
                row(Kind::Other, Answers::Sse, None),
            ],
        }
    }

    #[test]
    fn ratios_are_to_bare_axum_with_json_and_to_the_same_mode_of_the_official_sdk() {
        let results = example();
        let ratios = |row: usize| {
            [Base::Bare, Base::Official].map(|base| results.ratio(&results.subjects[row], base, |sample| sample.p50_us))
        };
        assert_eq!(ratios(3), [Some(3.0), Some(2.0)]);
        assert_eq!(ratios(0), [Some(1.0), None], "no official SDK with JSON");
        assert_eq!(ratios(4), [None, None], "it failed");
    }

    #[test]
    fn reports_show_figures_ratios_and_failures() {
        let (terminal, markdown) = (terminal(&example()), markdown(&example()));
        assert!(
            terminal.contains("FAILED Other: it closed the connection\n    no such thing"),
            "{terminal}"
        );
        assert!(markdown.contains("- Other: it closed the connection"), "{markdown}");
        let svg = example().picture();
        assert_eq!(
            svg.matches("height=\"13.0\"").count(),
            3,
            "one subject with JSON, three panels"
        );
        for text in [terminal, markdown] {
            assert!(text.contains("3.00×") && text.contains("6.00 µs"), "{text}");
        }
    }
}
