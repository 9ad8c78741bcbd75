//! The results as text: for a terminal and as Markdown.

use std::fmt::Write;

use crate::results::{Base, Results, Row};
use crate::rounds::Sample;
use crate::subjects::Role;

/// A column of figures: its heading for servers and for clients, and its figure with the unit.
type Column = (&'static str, &'static str, fn(&Sample) -> String);

const COLUMNS: [Column; 6] = [
    ("cold start", "connect", |sample| milliseconds(sample.start_ms)),
    ("round trip p50", "round trip p50", |sample| microseconds(sample.p50_us)),
    ("p99", "p99", |sample| microseconds(sample.p99_us)),
    ("64 in flight", "64 in flight", |sample| {
        format!("{}/s", count(sample.calls_per_s))
    }),
    ("CPU per 10,000", "CPU per 10,000", |sample| {
        format!("{} s", significant(sample.cpu_s_per_10k))
    }),
    ("peak memory", "peak memory", |sample| {
        format!("{} MB", significant(sample.peak_kb / 1024.0))
    }),
];

/// A figure that ratios are shown of: its heading for servers and for clients.
type Compared = (&'static str, &'static str, fn(&Sample) -> f64);

const COMPARED: [Compared; 4] = [
    ("cold start", "connect", |sample| sample.start_ms),
    ("round trip", "round trip", |sample| sample.p50_us),
    ("calls/s", "calls/s", |sample| sample.calls_per_s),
    ("CPU", "CPU", |sample| sample.cpu_s_per_10k),
];

const READING: &str = "Ratios: the subject's figure divided by that of the bare loop in its own language (own), of the \
bare loop in Rust (Rust), and of the official SDK of its language (SDK). For times and CPU less is better, for calls/s \
more.";

pub(crate) fn terminal(results: &Results) -> String {
    let mut text = String::new();
    for (name, fact) in results.facts() {
        let _ = writeln!(text, "{:<22}{fact}", format!("{name}:"));
    }
    for (role, heading) in ROLES {
        if results.rows(role).next().is_some() {
            let _ = write!(
                text,
                "\n{heading}\n{}\n{}",
                aligned(&figures(results, role), 2),
                aligned(&ratios(results, role), 2)
            );
        }
    }
    let _ = writeln!(text, "\n{READING}");
    for (row, failed) in results.failed() {
        let _ = writeln!(text, "\nFAILED {}: {}", row.name, failed.error);
        for line in failed.stderr.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

pub(crate) fn markdown(results: &Results) -> String {
    let mut text = String::from(
        "# Results over stdio\n\n`cargo xtask bench` writes this file. What is measured, and how, is in \
         [README.md](README.md).\n\n![Bars of the figures below](results/stdio.svg)\n",
    );
    for (role, heading) in ROLES {
        if results.rows(role).next().is_some() {
            let _ = write!(text, "\n## {heading}\n\n{}", piped(&figures(results, role), 2));
            let _ = write!(text, "\n{}", piped(&ratios(results, role), 2));
        }
    }
    let _ = write!(text, "\n{READING}\n\n## Machine\n\n| | |\n| --- | --- |\n");
    for (name, fact) in results.facts() {
        let _ = writeln!(text, "| {name} | {fact} |");
    }
    if results.failed().next().is_some() {
        text.push_str("\n## Failed\n\n");
        for (row, failed) in results.failed() {
            let _ = writeln!(text, "- {}: {}", row.name, failed.error);
        }
    }
    text
}

/// The text with the part that has the same heading in place of that it had, or at its end.
pub(crate) fn with_part(text: &str, part: &str) -> String {
    let heading = part.lines().next().unwrap_or_default();
    let mut parts: Vec<&str> = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices("\n# ") {
        parts.push(&text[begin..=at]);
        begin = at + 1;
    }
    parts.push(&text[begin..]);
    parts.retain(|part| !part.trim().is_empty());
    match parts.iter_mut().find(|old| old.lines().next() == Some(heading)) {
        Some(old) => *old = part,
        None => parts.push(part),
    }
    parts
        .iter()
        .map(|part| part.trim_end())
        .collect::<Vec<_>>()
        .join("\n\n")
        + "\n"
}

const ROLES: [(Role, &str); 3] = [
    (Role::Server, "Servers"),
    (Role::Client, "Clients"),
    (Role::HttpClient, "Clients over HTTP"),
];

fn figures(results: &Results, role: Role) -> Vec<Vec<String>> {
    let mut heading = vec![String::new(), String::new()];
    heading.extend(COLUMNS.iter().map(|(server, client, _)| named(role, server, client)));
    let mut table = vec![heading];
    for row in results.rows(role) {
        let mut line = vec![row.language.to_string(), row.label()];
        line.extend(
            COLUMNS
                .iter()
                .map(|(_, _, show)| row.median.as_ref().map_or_else(|| missing(row), show)),
        );
        table.push(line);
    }
    table
}

fn ratios(results: &Results, role: Role) -> Vec<Vec<String>> {
    let mut heading = vec![String::new(), String::new()];
    for (server, client, _) in COMPARED {
        let figure = named(role, server, client);
        heading.extend(["own", "Rust", "SDK"].map(|base| format!("{figure} / {base}")));
    }
    let mut table = vec![heading];
    for row in results.rows(role) {
        let mut line = vec![row.language.to_string(), row.label()];
        for (_, _, figure) in COMPARED {
            line.extend(Base::ALL.map(|base| {
                results
                    .ratio(row, base, figure)
                    .map_or_else(|| "-".to_owned(), |ratio| format!("{}×", significant(ratio)))
            }));
        }
        table.push(line);
    }
    table
}

fn named(role: Role, server: &str, client: &str) -> String {
    if role == Role::Server {
        server.to_owned()
    } else {
        client.to_owned()
    }
}

fn missing(row: &Row) -> String {
    if row.failure.is_some() {
        "failed".to_owned()
    } else {
        "-".to_owned()
    }
}

/// Columns of one width each: the first `names` to the left, figures to the right. Headings of ratios take two lines.
pub(crate) fn aligned(table: &[Vec<String>], names: usize) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    if table[0].iter().any(|heading| heading.contains(" / ")) {
        let halves = table[0]
            .iter()
            .map(|heading| heading.split_once(" / ").unwrap_or((heading, "")));
        let (first, second): (Vec<_>, Vec<_>) = halves.map(|(a, b)| (a.to_owned(), format!("/ {b}"))).unzip();
        lines.push(once_each(first));
        lines.push(
            second
                .into_iter()
                .map(|half| if half == "/ " { String::new() } else { half })
                .collect(),
        );
        lines.extend_from_slice(&table[1..]);
    } else {
        lines.extend_from_slice(table);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table[0].len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = if column < names {
                write!(shown, "{cell:<width$}  ")
            } else {
                write!(shown, "{cell:>width$}  ")
            };
        }
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    text
}

/// Leaves only the first of equal neighbours.
fn once_each(mut cells: Vec<String>) -> Vec<String> {
    for column in (1..cells.len()).rev() {
        if cells[column] == cells[column - 1] {
            cells[column].clear();
        }
    }
    cells
}

/// A table in Markdown: the first `names` columns to the left, figures to the right.
pub(crate) fn piped(table: &[Vec<String>], names: usize) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = (0..table[0].len())
        .map(|column| if column < names { "---" } else { "---:" }.to_owned())
        .collect();
    let mut text = line(&table[0]);
    text.push_str(&line(&rule));
    for cells in &table[1..] {
        text.push_str(&line(cells));
    }
    text
}

/// Milliseconds, or seconds from 1,000 of them on.
pub(crate) fn milliseconds(value: f64) -> String {
    if value >= 1_000.0 {
        format!("{} s", significant(value / 1_000.0))
    } else {
        format!("{} ms", significant(value))
    }
}

/// Microseconds, or milliseconds from 1,000 of them on.
pub(crate) fn microseconds(value: f64) -> String {
    if value >= 1_000.0 {
        milliseconds(value / 1_000.0)
    } else {
        format!("{} µs", significant(value))
    }
}

/// A whole number with its thousands apart, and no more of its digits than mean something.
pub(crate) fn count(value: f64) -> String {
    let unit = if value >= 1_000.0 {
        10_f64.powf(value.log10().floor() - 2.0)
    } else {
        1.0
    };
    let digits = ((value / unit).round() * unit).round().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three digits, or two below a tenth.
pub(crate) fn significant(value: f64) -> String {
    match value {
        _ if value >= 100.0 => count(value),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 0.1 => format!("{value:.2}"),
        _ if value > 0.0 => format!("{value:.0$}", (1.0 - value.log10().floor()) as usize),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(count(401_234.0), "401,000");
        assert_eq!(count(630.4), "630");
        assert_eq!(count(1_239.6), "1,240");
        assert_eq!(count(999.7), "1,000");
        assert_eq!(significant(0.0213), "0.021");
        assert_eq!(significant(0.00128), "0.0013");
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(1.204), "1.20");
        assert_eq!(significant(93.75), "93.8");
        assert_eq!(microseconds(16.04), "16.0 µs");
        assert_eq!(microseconds(1_500.0), "1.50 ms");
        assert_eq!(milliseconds(1_240.0), "1.24 s");
    }

    #[test]
    fn the_terminal_shows_figures_ratios_and_failures() {
        let text = terminal(&example());
        assert!(text.contains("400,000/s"), "{text}");
        assert!(text.contains("93.8×"), "{text}");
        assert!(text.contains("official SDK 2.3.0"), "{text}");
        assert!(
            text.contains("FAILED Python-oxmcp: it closed its output\n    No module <oxmcp>"),
            "{text}"
        );
        assert!(text.contains("Servers") && text.contains("Clients"), "{text}");
    }

    #[test]
    fn a_part_takes_the_place_of_the_one_with_its_heading() {
        let both = with_part(&with_part("", "# A\n\none\n"), "# B\n\ntwo\n\n## more\n");
        assert_eq!(both, "# A\n\none\n\n# B\n\ntwo\n\n## more\n");
        assert_eq!(
            with_part(&both, "# A\n\nnew\n"),
            "# A\n\nnew\n\n# B\n\ntwo\n\n## more\n"
        );
        assert_eq!(with_part(&both, "# B\n"), "# A\n\none\n\n# B\n");
    }

    #[test]
    fn markdown_rows_have_equal_columns() {
        let text = markdown(&example());
        for block in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let columns: Vec<usize> = block.lines().map(|line| line.matches('|').count()).collect();
            assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{block}");
        }
        assert!(text.contains("- Python-oxmcp: it closed its output"), "{text}");
    }
}
