//! The load of a client: a program of the subject's language that measures its own SDK and reports one JSON line.

use std::time::Duration;

use serde::Deserialize;

use crate::process::{CommandLine, Process, Result};
use crate::rounds::{Plan, Sample, WINDOW};
use crate::server_load::Failure;

const DEADLINE: Duration = Duration::from_secs(60);

/// What a client program prints. Times are its own, by its monotonic clock; see `benchmarks/README.md`.
#[derive(Debug, Deserialize)]
struct Report {
    connect_ms: f64,
    p50_us: f64,
    p99_us: f64,
    calls_per_s: f64,
    cpu_s_per_10k: f64,
    peak_kb: u64,
    /// How many replies were compared with what was sent.
    checked: usize,
}

/// One run of one new process of the client, which starts `server` by itself.
pub(crate) fn run(command: &CommandLine, server: &str, plan: &Plan) -> std::result::Result<Sample, Failure> {
    let mut line = command.clone();
    let numbers = [plan.warmup, plan.sequential, plan.pipelined, WINDOW];
    line.arguments.extend(numbers.map(|number| number.to_string()));
    line.arguments.push(server.to_owned());
    let mut process = Process::spawn(&line, DEADLINE).map_err(|error| Failure {
        error: error.to_string(),
        stderr: String::new(),
    })?;
    finish(&mut process, plan).map_err(|error| Failure::new(error.to_string(), process))
}

fn finish(process: &mut Process, plan: &Plan) -> Result<Sample> {
    let (output, status) = process.output_to_end()?;
    if !status.success() {
        return Err(format!("it ended with {status}").into());
    }
    sample(&output, plan.warmup + plan.sequential + plan.pipelined)
}

fn sample(output: &[u8], calls: usize) -> Result<Sample> {
    let text = String::from_utf8_lossy(output);
    let report: Report = serde_json::from_slice(output).map_err(|error| format!("no report ({error}): {text}"))?;
    if report.checked != calls {
        return Err(format!("it checked {} replies to {calls} calls", report.checked).into());
    }
    let sample = Sample {
        start_ms: report.connect_ms,
        p50_us: report.p50_us,
        p99_us: report.p99_us,
        calls_per_s: report.calls_per_s,
        cpu_s_per_10k: report.cpu_s_per_10k,
        peak_kb: report.peak_kb as f64,
    };
    if sample.values().iter().all(|value| *value > 0.0) {
        Ok(sample)
    } else {
        Err(format!("a figure that cannot be: {}", text.trim()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"connect_ms":1.5,"p50_us":20,"p99_us":40,"calls_per_s":9e4,"cpu_s_per_10k":0.1,"peak_kb":900,"checked":12}
"#;

    #[test]
    fn a_report_becomes_a_sample() {
        let sample = sample(LINE.as_bytes(), 12).expect("a sample");
        assert_eq!(sample.values(), [1.5, 20.0, 40.0, 90_000.0, 0.1, 900.0]);
    }

    #[test]
    fn a_report_that_skipped_a_check_is_refused() {
        let error = sample(LINE.as_bytes(), 13).expect_err("13 calls, 12 checks");
        assert_eq!(error.to_string(), "it checked 12 replies to 13 calls");
    }

    #[test]
    fn impossible_figures_and_other_output_are_refused() {
        assert!(sample(LINE.replace("1.5", "0").as_bytes(), 12).is_err());
        assert!(
            sample(b"listening\n", 12)
                .expect_err("no JSON")
                .to_string()
                .starts_with("no report")
        );
        assert!(sample(b"", 12).is_err());
    }
}
