//! The least a stdio MCP server in Rust can do: read lines, look at the method and the id, answer. No state, no
//! validation, no concurrency. It is the yardstick of the benchmarks, not an example of a good server.

mod bare_answer;

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use bare_answer::answer;

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        answer(&line, &mut output)?;
        line.clear();
        // Replies leave together when nothing more is at hand; the next read may block.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()
}
