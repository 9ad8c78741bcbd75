//! Reads what the test runners counted out of the lines they close with.

use std::path::Path;

use anyhow::{Context, Result};

use crate::summary::{Skip, Tally};

/// Sums the `test result:` lines of `cargo test`, one for each test program.
pub(crate) fn cargo(output: &str) -> Tally {
    let mut tally = Tally::default();
    let mut ignored = 0;
    for line in output.lines() {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let counts = counts.split_once(". ").map_or(counts, |(_, counts)| counts);
            for (number, what) in counts.split(';').filter_map(number_and_word) {
                match what {
                    "passed" => tally.passed += number,
                    "failed" => tally.failed += number,
                    "ignored" => ignored += number,
                    _ => {}
                }
            }
        } else if let Some((name, verdict)) = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... ignored"))
        {
            let reason = verdict.strip_prefix(", ").unwrap_or("ignored without a reason");
            tally.skips.push(Skip {
                count: 1,
                reason: format!("{name}: {reason}"),
            });
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|line| line.strip_suffix(" ... FAILED"))
        {
            tally.failures.push(name.to_owned());
        }
    }
    complete(&mut tally, ignored);
    tally
}

/// Reads pytest's last line, and the lines that `-rsxfE` prints for what was skipped and what failed.
pub(crate) fn pytest(output: &str) -> Tally {
    let mut tally = Tally::default();
    let mut skipped = 0;
    for line in output.lines() {
        if let Some((count, reason)) = line.strip_prefix("SKIPPED [").and_then(|rest| rest.split_once("] ")) {
            tally.skips.push(Skip {
                count: count.parse().unwrap_or(1),
                reason: reason.to_owned(),
            });
        } else if let Some(reason) = line.strip_prefix("XFAIL ") {
            tally.skips.push(Skip {
                count: 1,
                reason: format!("expected to fail: {reason}"),
            });
        } else if let Some(failure) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            tally.failures.push(failure.to_owned());
        }
    }
    let last = output
        .lines()
        .rev()
        .map(|line| line.trim_matches(['=', ' ']))
        .find(|line| line.contains(" in "));
    let counts = last
        .and_then(|line| line.rsplit_once(" in "))
        .map_or("", |(counts, _)| counts);
    for (number, what) in counts.split(',').filter_map(number_and_word) {
        match what {
            "passed" | "xpassed" => tally.passed += number,
            "failed" | "error" | "errors" => tally.failed += number,
            "skipped" | "xfailed" => skipped += number,
            _ => {}
        }
    }
    complete(&mut tally, skipped);
    tally
}

/// Reads the counts that close a TAP report of `node --test`, and the reasons of its skipped tests.
pub(crate) fn node(report: &Path) -> Result<Tally> {
    let text = std::fs::read_to_string(report).with_context(|| format!("node wrote no report {}", report.display()))?;
    Ok(tap(&text))
}

fn tap(text: &str) -> Tally {
    let mut tally = Tally::default();
    let mut skipped = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next().map(str::trim) {
        if let Some(counts) = line.strip_prefix("# ") {
            let Some((what, number)) = counts.split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u32>() else { continue };
            match what {
                "pass" => tally.passed += number,
                "fail" | "cancelled" => tally.failed += number,
                "skipped" | "todo" => skipped += number,
                _ => {}
            }
        } else if let Some((name, reason)) = line.split_once(" # SKIP").or_else(|| line.split_once(" # TODO")) {
            let name = name.split_once(" - ").map_or(name, |(_, name)| name);
            let reason = reason.replace("\\#", "#");
            let reason = if reason.trim().is_empty() {
                "skipped without a reason"
            } else {
                reason.trim()
            };
            tally.skips.push(Skip {
                count: 1,
                reason: format!("{name}: {reason}"),
            });
        } else if let Some((_, name)) = line.strip_prefix("not ok ").and_then(|line| line.split_once(" - ")) {
            tally.failures.push(format!("{name}{}", tap_error(lines.clone())));
        }
    }
    complete(&mut tally, skipped);
    tally
}

/// What the block after a failed test says of the error, in one line.
fn tap_error<'a>(block: impl Iterator<Item = &'a str>) -> String {
    const ENOUGH: usize = 600;
    let mut said = block
        .map(str::trim)
        .take_while(|line| !matches!(*line, "..." | "code:") && !line.starts_with("code: "))
        .skip_while(|line| !line.starts_with("error: "));
    let first = said.next().map_or("", |line| line.trim_start_matches("error: "));
    let all: Vec<&str> = std::iter::once(first)
        .chain(said)
        .filter(|line| !matches!(*line, "" | "|-"))
        .collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(": {}", all.join(" / ").chars().take(ENOUGH).collect::<String>()),
    }
}

/// Sums the lines with which Maven's Surefire closes each module: those without a time.
pub(crate) fn surefire(output: &str) -> Tally {
    let mut tally = Tally::default();
    let mut skipped = 0;
    for line in output.lines() {
        let Some((_, counts)) = line.split_once("Tests run: ") else {
            if line.ends_with("<<< FAILURE!") || line.ends_with("<<< ERROR!") {
                let name = line.split(" -- ").next().unwrap_or(line);
                tally.failures.push(name.trim_start_matches("[ERROR] ").to_owned());
            }
            continue;
        };
        if counts.contains("Time elapsed") {
            continue;
        }
        let mut numbers = counts.split(", ").map(|part| {
            let digits: String = part.chars().filter(char::is_ascii_digit).collect();
            digits.parse::<u32>().unwrap_or_default()
        });
        let mut next = || numbers.next().unwrap_or_default();
        let (run, failures, errors, skips) = (next(), next(), next(), next());
        tally.failed += failures + errors;
        tally.passed += run.saturating_sub(failures + errors + skips);
        skipped += skips;
    }
    complete(&mut tally, skipped);
    tally
}

/// Reads the lines that XCTest closes with, one for the suite of all tests, and those of tests that were skipped.
pub(crate) fn xctest(output: &str) -> Tally {
    let mut tally = Tally::default();
    let mut skipped = 0;
    let mut is_whole = false;
    for line in output.lines() {
        if let Some((before, reason)) = line.split_once(" : Test skipped") {
            let name = before.rsplit("error: ").next().unwrap_or(before);
            let name = name.rsplit(' ').next().unwrap_or(name);
            tally.skips.push(Skip {
                count: 1,
                reason: format!("{name}{}", reason.replacen(" - ", ": ", 1)),
            });
        }
        if let Some((name, _)) = line
            .strip_prefix("Test Case '")
            .and_then(|line| line.split_once("' failed"))
        {
            tally.failures.push(name.to_owned());
        }
        if let Some((_, counts)) = line.split_once("Executed ").filter(|_| is_whole) {
            let number = |word: &str| {
                let (before, _) = counts.split_once(word)?;
                before.trim().rsplit([' ', ',']).next()?.parse::<u32>().ok()
            };
            let run = number("test").unwrap_or_default();
            let skips = number("test skipped").or(number("tests skipped")).unwrap_or_default();
            let failed = number("failure").unwrap_or_default();
            tally.failed += failed.min(run);
            tally.passed += run.saturating_sub(failed + skips);
            skipped += skips;
        }
        is_whole = line.contains("Test Suite 'All tests'");
    }
    complete(&mut tally, skipped);
    tally
}

/// `" 3 passed"` as its parts.
fn number_and_word(text: &str) -> Option<(u32, &str)> {
    let (number, word) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, word))
}

/// A runner counts more skips than it explains, or explains one twice: its count is what holds.
fn complete(tally: &mut Tally, counted: u32) {
    let explained: u32 = tally.skips.iter().map(|skip| skip.count).sum();
    if explained < counted {
        tally.skips.push(Skip {
            count: counted - explained,
            reason: "no reason was given".to_owned(),
        });
    } else if explained > counted {
        tally.skips.truncate(counted as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(count: u32, reason: &str) -> Skip {
        Skip {
            count,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn cargo_sums_programs_and_names_what_is_ignored() {
        let output = "running 2 tests\ntest a ... ok\ntest b ... ignored, needs a disk\ntest c::d ... FAILED\n\n\
            test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
            test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let skips = vec![skip(1, "b: needs a disk")];
        assert_eq!(
            cargo(output),
            Tally {
                passed: 5,
                failed: 2,
                skips,
                failures: vec!["c::d".to_owned()],
            }
        );
    }

    #[test]
    fn cargo_that_did_not_compile_counts_nothing() {
        assert_eq!(cargo("error[E0425]: cannot find value\n"), Tally::default());
    }

    #[test]
    fn pytest_in_its_long_and_its_quiet_form() {
        let long = "SKIPPED [2] tests/test_a.py:3: needs a terminal\nFAILED tests/test_b.py::test_c - assert 1 == 2\n\
            ==== 1 failed, 5 passed, 2 skipped, 1 warning, 1 error in 0.12s ====\n";
        assert_eq!(
            pytest(long),
            Tally {
                passed: 5,
                failed: 2,
                skips: vec![skip(2, "tests/test_a.py:3: needs a terminal")],
                failures: vec!["tests/test_b.py::test_c - assert 1 == 2".to_owned()],
            }
        );
        assert_eq!(
            pytest("...\n3 passed in 0.01s\n"),
            Tally {
                passed: 3,
                ..Tally::default()
            }
        );
        assert_eq!(pytest("no tests ran in 0.00s\n"), Tally::default());
    }

    #[test]
    fn tap_counts_come_from_its_end_and_reasons_from_its_lines() {
        let text = "TAP version 13\n# Subtest: a\nok 1 - a\nok 2 - b # SKIP see rule \\#2\nnot ok 3 - c\n  ---\n\
            \x20 duration_ms: 1\n  error: |-\n    one\n    \n    two\n  code: 'X'\n  ...\nnot ok 4 - d\n  ---\n  error: 'no'\n  ...\n1..2\n\
            # tests 4\n# suites 0\n# pass 1\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 0\n# duration_ms 9.5\n";
        assert_eq!(
            tap(text),
            Tally {
                passed: 1,
                failed: 2,
                skips: vec![skip(1, "b: see rule #2")],
                failures: vec!["c: one / two".to_owned(), "d: 'no'".to_owned()],
            }
        );
    }

    #[test]
    fn surefire_sums_modules_and_not_their_classes() {
        let output = "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in a.B\n\
            [ERROR] a.B.c -- Time elapsed: 0.1 s <<< FAILURE!\n\
            [WARNING] Tests run: 9, Failures: 1, Errors: 2, Skipped: 1\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n";
        let tally = surefire(output);
        assert_eq!((tally.passed, tally.failed, tally.skips.len()), (7, 3, 1));
        assert_eq!(tally.failures, ["a.B.c"]);
        assert_eq!(surefire("[ERROR] COMPILATION ERROR"), Tally::default());
    }

    #[test]
    fn xctest_counts_the_suite_of_all_tests() {
        let output = "Test Suite 'A' failed at 1\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds\n\
            /a/B.swift:3: A.testB : Test skipped - there is no Python\nTest Case 'A.testC' failed (0.1 seconds)\n\
            Test Suite 'All tests' failed at 1\n\
            \t Executed 7 tests, with 1 test skipped and 2 failures (1 unexpected) in 0.1 (0.1) seconds\n";
        assert_eq!(
            xctest(output),
            Tally {
                passed: 4,
                failed: 2,
                skips: vec![skip(1, "A.testB: there is no Python")],
                failures: vec!["A.testC".to_owned()],
            }
        );
        let one = "Test Suite 'All tests' passed at 1\n\t Executed 1 test, with 0 failures (0 unexpected) in 0.1 (0.1) seconds\n";
        assert_eq!(xctest(one).passed, 1);
        assert_eq!(xctest("error: fatalError\n"), Tally::default());
    }

    #[test]
    fn a_skip_without_a_reason_is_still_counted() {
        let tally = pytest("1 passed, 2 skipped in 0.1s\n");
        assert_eq!(tally.skips, vec![skip(2, "no reason was given")]);
    }
}
