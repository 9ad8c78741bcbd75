//! A subject's process: pipes, a deadline that cannot be missed, the tail of its stderr, and what the kernel knows of
//! its processor time and memory.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::placement;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How long a process may take to end once its input is closed.
const CLOSE: Duration = Duration::from_secs(10);
/// As much of a failed subject's stderr as is kept.
const STDERR_TAIL: usize = 4096;

/// What to start. The variables of the caller's environment that configure an interpreter are not passed on: every
/// subject runs with its interpreter's defaults.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
}

impl CommandLine {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.arguments[0]);
        command.args(&self.arguments[1..]);
        for (name, _) in std::env::vars_os() {
            let configures = [
                "PYTHON",
                "NODE_",
                "UV_",
                "JDK_JAVA_OPTIONS",
                "JAVA_TOOL_OPTIONS",
                "RUST_LOG",
                "RUST_BACKTRACE",
            ]
            .iter()
            .any(|prefix| name.to_string_lossy().starts_with(prefix));
            if configures {
                command.env_remove(name);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A running subject. Dropping it kills its whole process group.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    lines: Lines,
    stderr: Option<JoinHandle<()>>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    watchdog: Watchdog,
}

impl Process {
    /// Starts the command in a process group of its own, which is killed when the deadline has passed.
    pub(crate) fn spawn(line: &CommandLine, deadline: Duration) -> Result<Self> {
        let mut command = line.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = placement::of_subject(|| command.spawn())
            .map_err(|error| format!("cannot start {}: {error}", line.arguments[0]))?;
        let (Some(input), Some(output), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the process has no pipes".into());
        };
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&stderr_tail);
        Ok(Self {
            input: Some(input),
            output,
            lines: Lines::new(),
            stderr: Some(std::thread::spawn(move || keep_tail(stderr, &tail))),
            stderr_tail,
            watchdog: Watchdog::start(child.id(), deadline),
            child,
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        input
            .write_all(bytes)
            .map_err(|error| self.watchdog.explain(&format!("cannot write to it: {error}")))
    }

    /// The next line without its line feed, waiting for it if need be.
    pub(crate) fn read_line(&mut self) -> Result<&[u8]> {
        while !self.lines.has_line() {
            match self.output.read(self.lines.room()) {
                Ok(0) => return Err(self.watchdog.explain("it closed its output")),
                Ok(read) => self.lines.filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.watchdog.explain(&format!("cannot read from it: {error}"))),
            }
        }
        Ok(self.lines.take())
    }

    /// Whether `read_line` will answer without waiting.
    pub(crate) fn has_line(&mut self) -> bool {
        self.lines.has_line()
    }

    /// User and system time of the process, all its threads included, in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let pid = libc::pid_t::try_from(self.child.id())?;
        // SAFETY: both calls only write to the two locals they are given.
        let failed = unsafe {
            libc::clock_getcpuclockid(pid, &raw mut clock) != 0 || libc::clock_gettime(clock, &raw mut time) != 0
        };
        if failed {
            return Err("cannot read its processor time".into());
        }
        Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
    }

    /// The most memory that was resident at once, in kB.
    pub(crate) fn peak_kb(&self) -> Result<u64> {
        self.status_kb("VmHWM:")
    }

    /// The memory that is resident, in kB.
    pub(crate) fn resident_kb(&self) -> Result<u64> {
        self.status_kb("VmRSS:")
    }

    fn status_kb(&self, field: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(field))
            .ok_or_else(|| format!("no {field} in its status"))?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }

    /// Closes the input and waits until the process has ended by itself.
    pub(crate) fn close(&mut self) -> Result<ExitStatus> {
        self.input = None;
        self.watchdog.shorten(CLOSE);
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest)?;
        self.wait()
    }

    /// Everything that the process writes until it ends, without closing its input.
    pub(crate) fn output_to_end(&mut self) -> Result<(Vec<u8>, ExitStatus)> {
        let mut output = Vec::new();
        self.output.read_to_end(&mut output)?;
        let status = self.wait()?;
        Ok((output, status))
    }

    fn wait(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait()?;
        if self.watchdog.has_fired() {
            Err(self.watchdog.explain("it did not end"))
        } else {
            Ok(status)
        }
    }

    /// Ends the process if it still runs, and returns the last of what it said on stderr.
    pub(crate) fn into_stderr(mut self) -> String {
        self.end();
        let tail = self.stderr_tail.lock().map(|tail| tail.clone()).unwrap_or_default();
        String::from_utf8_lossy(&tail).trim().to_owned()
    }

    fn end(&mut self) {
        self.watchdog.stop();
        kill_group(self.child.id());
        // Reaping can only fail if it was done before, and then nothing is left to do.
        let _ = self.child.wait();
        if let Some(stderr) = self.stderr.take() {
            let _ = stderr.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Splits what was read into lines. Never looks at a byte twice.
struct Lines {
    buffer: Vec<u8>,
    /// Up to here the bytes were handed out,
    taken: usize,
    /// up to here they were searched for a line feed, which is at the end of this part if there is one,
    searched: usize,
    /// and up to here they were read.
    filled: usize,
}

impl Lines {
    fn new() -> Self {
        Self {
            buffer: vec![0; 128 * 1024],
            taken: 0,
            searched: 0,
            filled: 0,
        }
    }

    fn has_line(&mut self) -> bool {
        if self.searched > self.taken && self.buffer[self.searched - 1] == b'\n' {
            return true;
        }
        let found = memchr::memchr(b'\n', &self.buffer[self.searched..self.filled]);
        self.searched = found.map_or(self.filled, |at| self.searched + at + 1);
        found.is_some()
    }

    /// The line that `has_line` found.
    fn take(&mut self) -> &[u8] {
        let begin = std::mem::replace(&mut self.taken, self.searched);
        &self.buffer[begin..self.searched - 1]
    }

    /// Where the next bytes go.
    fn room(&mut self) -> &mut [u8] {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.searched -= self.taken;
        self.filled -= self.taken;
        self.taken = 0;
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        &mut self.buffer[self.filled..]
    }
}

/// Kills a process group at a deadline. Reads and writes then fail, so nothing has to watch a clock in the hot path.
struct Watchdog {
    fired: Arc<AtomicBool>,
    control: Option<mpsc::Sender<Duration>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    fn start(pid: u32, deadline: Duration) -> Self {
        let fired = Arc::new(AtomicBool::new(false));
        let (control, orders) = mpsc::channel();
        let flag = Arc::clone(&fired);
        let watch = move || {
            let mut left = deadline;
            loop {
                match orders.recv_timeout(left) {
                    Ok(shorter) => left = shorter,
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        flag.store(true, Ordering::SeqCst);
                        kill_group(pid);
                        return;
                    }
                }
            }
        };
        Self {
            fired,
            control: Some(control),
            thread: Some(std::thread::spawn(watch)),
        }
    }

    fn shorten(&self, left: Duration) {
        if let Some(control) = &self.control {
            // A watchdog that has fired no longer listens.
            let _ = control.send(left);
        }
    }

    fn has_fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }

    fn explain(&self, what: &str) -> Box<dyn Error> {
        if self.has_fired() {
            "it took too long and was killed".into()
        } else {
            what.into()
        }
    }

    /// Waits for the thread, so that no kill can come after the process id was freed.
    fn stop(&mut self) {
        self.control = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn kill_group(pid: u32) {
    let Ok(group) = libc::pid_t::try_from(pid) else { return };
    // SAFETY: a plain system call. The group was made by `spawn` and bears the id of a child of ours.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

fn keep_tail(mut stderr: ChildStderr, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; STDERR_TAIL];
    while let Ok(read @ 1..) = stderr.read(&mut chunk) {
        let Ok(mut tail) = tail.lock() else { return };
        tail.extend_from_slice(&chunk[..read]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration) -> Process {
        let arguments = ["sh", "-c", script].map(str::to_owned).to_vec();
        Process::spawn(
            &CommandLine {
                arguments,
                environment: Vec::new(),
            },
            deadline,
        )
        .expect("sh starts")
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let mut process = shell(
            "printf 'one\\ntwo\\n\\nlo'; printf 'ng\\n'; cat",
            Duration::from_secs(20),
        );
        for expected in ["one", "two", "", "long"] {
            assert_eq!(process.read_line().expect("a line"), expected.as_bytes());
        }
        assert!(!process.has_line());
        process.write(b"echoed\n").expect("written");
        assert_eq!(process.read_line().expect("a line"), b"echoed");
        assert!(process.close().expect("it ends").success());
    }

    #[test]
    fn a_process_that_ends_is_reported_with_its_stderr() {
        let mut process = shell("echo 'what went wrong' >&2; exit 3", Duration::from_secs(20));
        assert_eq!(
            process.read_line().expect_err("no line comes").to_string(),
            "it closed its output"
        );
        assert_eq!(process.into_stderr(), "what went wrong");
    }

    #[test]
    fn a_process_past_its_deadline_is_killed() {
        let mut process = shell("sleep 60", Duration::from_millis(50));
        let error = process.read_line().expect_err("no line comes");
        assert_eq!(error.to_string(), "it took too long and was killed");
    }

    #[test]
    fn a_command_that_does_not_exist_is_named() {
        let line = CommandLine {
            arguments: vec!["/nowhere/server".to_owned()],
            environment: Vec::new(),
        };
        let Err(error) = Process::spawn(&line, Duration::from_secs(1)) else {
            panic!("it started")
        };
        assert!(
            error.to_string().starts_with("cannot start /nowhere/server:"),
            "{error}"
        );
    }

    #[test]
    fn time_and_memory_of_a_running_process_are_known() {
        let mut process = shell(
            "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; cat",
            Duration::from_secs(20),
        );
        process.read_line().expect("a line");
        assert!(process.cpu_seconds().expect("a time") > 0.0);
        assert!(process.peak_kb().expect("a size") > 100);
    }
}
