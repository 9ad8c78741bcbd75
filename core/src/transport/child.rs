//! A server as a child process: how it is started, watched and ended.
//!
//! A child never outlives its client. It leads a process group of its own, and what ends it ends
//! the group: `close` asks step by step ([`ChildShutdown`]), dropping the client kills at once. A
//! client that is itself killed leaves a closed pipe behind, which tells a server to leave; the
//! parent-death signal of Linux is not used, because it follows the thread that started the child
//! and not the process, and would kill servers whenever a runtime retires a worker.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use oxmcp_proto::frame::{Line, LineFramer};
use oxmcp_proto::{ChildShutdown, ChildStep, Error, ErrorKind, INHERITED_VARIABLES, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{Child as Process, Command};
use tokio::task::JoinHandle;

use super::{IntoTransport, Transport};

/// A line on standard error longer than this is dropped.
const STDERR_LINE: usize = 64 * 1024;
/// How long the last lines on standard error may take after the end of the process.
const STDERR_END: Duration = Duration::from_secs(1);
/// How often a group whose leader has gone is looked at.
const GROUP_POLL: Duration = Duration::from_millis(10);

/// A server to start as a child process and to talk to over its standard streams.
///
/// It inherits few variables, and no secrets ([`INHERITED_VARIABLES`](crate::INHERITED_VARIABLES)); its standard error is ours.
/// No shell is involved: arguments arrive as they are. It must be started inside a tokio runtime
/// with I/O and time enabled.
///
/// ```no_run
/// # async fn run() -> Result<(), oxmcp::Error> {
/// use oxmcp::{ChildProcess, Client};
///
/// let server = ChildProcess::new("python").arg("server.py").env("LOG_LEVEL", "info");
/// let client = Client::connect(server).await?;
/// println!("{:?}", client.list_tools().await?);
/// client.close().await;
/// # Ok(())
/// # }
/// ```
pub struct ChildProcess {
    command: Command,
    stderr: Stderr,
    grace: Duration,
}

enum Stderr {
    Inherit,
    Null,
    Lines(Each),
}

/// What is done with each line.
type Each = Arc<Mutex<dyn FnMut(&str) + Send>>;

impl fmt::Debug for ChildProcess {
    /// The program alone: arguments and environment may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.command.as_std().get_program();
        f.debug_struct("ChildProcess")
            .field("program", &program)
            .finish_non_exhaustive()
    }
}

impl ChildProcess {
    /// A server that is started by `program`, which is looked up in `PATH` unless it is a path.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            command: with_few_variables(Command::new(find(program.as_ref()))),
            stderr: Stderr::Inherit,
            grace: Duration::from_secs(2),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Passes all of our environment on, instead of [`INHERITED_VARIABLES`](crate::INHERITED_VARIABLES). What was set before this
    /// stays only where our environment does not have it.
    #[must_use]
    pub fn env_inherit_all(mut self) -> Self {
        self.command.envs(std::env::vars_os());
        self
    }

    /// Starts it in this folder instead of ours.
    #[must_use]
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Throws its standard error away.
    #[must_use]
    pub fn stderr_null(mut self) -> Self {
        self.stderr = Stderr::Null;
        self
    }

    /// Hands each line on its standard error to `each`, without the line's end. Blank lines and
    /// lines over 64 KiB are left out. `each` runs on the runtime and must not block.
    #[must_use]
    pub fn stderr_lines(mut self, each: impl FnMut(&str) + Send + 'static) -> Self {
        self.stderr = Stderr::Lines(Arc::new(Mutex::new(each)));
        self
    }

    /// How long a server may take to leave after each step of a shutdown: its input closed, then
    /// `SIGTERM`, then `SIGKILL`. 2 s unless set.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    fn spawn(&mut self) -> io::Result<Transport> {
        let stderr = match &self.stderr {
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Null => Stdio::null(),
            Stderr::Lines(_) => Stdio::piped(),
        };
        let command = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(windows)]
        command.creation_flags(0x0800_0000); // CREATE_NO_WINDOW
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        let line = command_line(command.as_std());
        let mut process = command.kill_on_drop(true).spawn()?;

        let (input, output) = (process.stdin.take(), process.stdout.take());
        let stderr = match (&self.stderr, process.stderr.take()) {
            (Stderr::Lines(each), Some(stderr)) => Some(tokio::spawn(hand_out_lines(stderr, Arc::clone(each)))),
            _ => None,
        };
        let (Some(input), Some(output)) = (input, output) else {
            unreachable!("both streams were asked for as pipes");
        };
        let mut transport = Transport::new(output, input);
        transport.command = Some(line);
        transport.child = Some(Child {
            group: Group::new(process),
            name,
            grace: self.grace,
            stderr,
        });
        Ok(transport)
    }

    fn start(&mut self) -> Result<Transport, Error> {
        self.spawn().map_err(|error| {
            let command = self.command.as_std();
            let advice = match (error.kind(), command.get_current_dir()) {
                (io::ErrorKind::NotFound, Some(folder)) if !folder.is_dir() => {
                    format!("its working folder {} does not exist", folder.display())
                }
                (io::ErrorKind::NotFound, _) => "check that it is installed and in PATH, or give its full path".into(),
                (io::ErrorKind::PermissionDenied, _) => "check that the file may be executed".into(),
                _ => "check the command and its settings".into(),
            };
            let name = command.get_program().to_string_lossy();
            let message = format!("cannot start the server \"{name}\": {error}; {advice}");
            Error::new(ErrorKind::Closed, message)
        })
    }
}

impl IntoTransport for ChildProcess {
    fn into_transport(mut self) -> Result<Transport, Error> {
        let mut transport = self.start()?;
        transport.restart = Some(Box::new(move || self.start()));
        Ok(transport)
    }
}

/// A started child, in the hands of the driver. Dropping it kills its group.
#[derive(Debug)]
pub(crate) struct Child {
    group: Group,
    name: String,
    grace: Duration,
    stderr: Option<JoinHandle<()>>,
}

impl Child {
    /// How to speak of it in an error.
    pub(crate) fn name(&self) -> String {
        format!("the server process \"{}\"", self.name)
    }

    pub(crate) fn group(&self) -> Group {
        self.group.clone()
    }

    /// Another process takes its place, for all who have the group. What is left of this one is killed, and its last words are
    /// still handed out.
    pub(crate) fn replace_by(&mut self, mut next: Self) {
        self.group.swap(&next.group);
        self.stderr = next.stderr.take();
    }

    /// Its exit status, as text, once it has ended.
    pub(crate) fn poll_exit(&self, cx: &mut Context<'_>) -> Poll<String> {
        self.group.poll_exit(cx)
    }

    /// Ends it step by step, and returns when the whole group is gone, or `SIGKILL` did not help
    /// in its time.
    pub(crate) async fn shut_down(mut self, input: Option<Box<dyn AsyncWrite + Send + Unpin>>) {
        let epoch = tokio::time::Instant::now();
        let mut input = input;
        let mut steps = ChildShutdown::new(self.grace);
        let mut until = epoch;
        loop {
            let now = Instant::default() + epoch.elapsed();
            match steps.poll(now) {
                Some(ChildStep::CloseInput) => {
                    if let Some(mut input) = input.take() {
                        let _ = tokio::time::timeout(self.grace, input.shutdown()).await;
                    }
                }
                Some(ChildStep::Terminate) => self.group.terminate(),
                Some(ChildStep::Kill) => self.group.kill(),
                None if steps.poll_timeout().is_none() => break,
                None => {}
            }
            until = steps
                .poll_timeout()
                .map_or(until + self.grace, |at| epoch + Instant::default().until(at));
            if tokio::time::timeout_at(until, self.group.gone()).await.is_ok() {
                break;
            }
        }
        if let Some(stderr) = &mut self.stderr {
            let _ = tokio::time::timeout(STDERR_END, stderr).await;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.group.kill();
        if let Some(stderr) = &self.stderr {
            stderr.abort();
        }
    }
}

/// The process group of a child. Its number is only used while it is certainly ours: the kernel
/// does not give it away before the leader was reaped, which happens under the same lock, and the
/// last member is gone.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    state: Arc<Mutex<GroupState>>,
}

#[derive(Debug)]
struct GroupState {
    leader: Process,
    number: Option<u32>,
    exit: Option<String>,
    gone: bool,
}

impl Group {
    fn new(leader: Process) -> Self {
        let state = GroupState {
            number: leader.id(),
            leader,
            exit: None,
            gone: false,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    fn poll_exit(&self, cx: &mut Context<'_>) -> Poll<String> {
        let mut state = self.lock();
        if let Some(exit) = &state.exit {
            return Poll::Ready(exit.clone());
        }
        // The future has no state of its own: a new one for each poll goes on where the last stopped.
        let Poll::Ready(status) = pin!(state.leader.wait()).poll(cx) else {
            return Poll::Pending;
        };
        let exit = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        state.exit = Some(exit.clone());
        Poll::Ready(exit)
    }

    /// Waits until no process of the group is left.
    async fn gone(&self) {
        std::future::poll_fn(|cx| self.poll_exit(cx)).await;
        while !self.lock().is_gone() {
            // The system tells nobody but their own parents of the end of the others.
            tokio::time::sleep(GROUP_POLL).await;
        }
    }

    fn swap(&self, other: &Self) {
        std::mem::swap(&mut *self.lock(), &mut *other.lock());
    }

    fn terminate(&self) {
        self.lock().signal(Signal::Terminate);
    }

    /// Kills the group at once, if any of it is left.
    pub(crate) fn kill(&self) {
        self.lock().signal(Signal::Kill);
    }

    fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
impl GroupState {
    fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.number?).ok()?)
    }

    fn is_gone(&mut self) -> bool {
        let left = self
            .pid()
            .is_some_and(|pid| rustix::process::test_kill_process_group(pid) != Err(rustix::io::Errno::SRCH));
        self.gone = !left;
        self.gone
    }

    fn signal(&mut self, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        if let Some(pid) = self.pid().filter(|_| !self.gone) {
            // It fails when the group has just gone, which is what was wanted.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

#[cfg(not(unix))]
impl GroupState {
    fn is_gone(&mut self) -> bool {
        self.gone = self.exit.is_some();
        self.gone
    }

    /// There is no polite signal here: closing the input was it.
    fn signal(&mut self, signal: Signal) {
        if signal == Signal::Kill && self.exit.is_none() && self.number.is_some() {
            let _ = self.leader.start_kill();
        }
    }
}

/// What tells one server from another.
fn command_line(command: &std::process::Command) -> String {
    let folder = command.get_current_dir().map(Path::as_os_str).unwrap_or_default();
    let words = [folder, command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    words.join("\0")
}

async fn hand_out_lines(mut stderr: impl AsyncRead + Unpin, each: Each) {
    let mut framer = LineFramer::new(STDERR_LINE);
    let mut chunk = vec![0; 4096];
    let mut hand_out = |line: Line<'_>| {
        if let Line::Whole(line) = line {
            let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
            each(&String::from_utf8_lossy(line));
        }
    };
    // An error here is the end of the stream as well: nobody is left to write to it.
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        framer.push(&chunk[..read], &mut hand_out);
    }
    framer.finish(&mut hand_out);
}

fn with_few_variables(mut command: Command) -> Command {
    command.env_clear();
    let inherited = INHERITED_VARIABLES
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.envs(inherited.filter(|(_, value)| !value.as_encoded_bytes().starts_with(b"()")));
    command
}

/// Where a program is, for systems that start `name.exe` alone when asked for `name`.
#[cfg(windows)]
fn find(program: &OsStr) -> std::ffi::OsString {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&variable("PATH")).collect();
    let extensions = variable("PATHEXT").to_string_lossy().into_owned();
    find_in(program, &folders, &extensions, |path| path.is_file())
}

#[cfg(not(windows))]
fn find(program: &OsStr) -> &OsStr {
    program
}

/// Looks for `program` with each of `extensions` (`.COM;.EXE;.CMD`) in `folders`: scripts such as
/// `npx.cmd` are commands there too.
#[cfg(any(windows, test))]
fn find_in(
    program: &OsStr,
    folders: &[std::path::PathBuf],
    extensions: &str,
    exists: impl Fn(&Path) -> bool,
) -> std::ffi::OsString {
    let path = Path::new(program);
    if path.extension().is_some() || path.components().count() > 1 {
        return program.to_owned();
    }
    let with_extension = |extension: &str| {
        let mut name = program.to_owned();
        name.push(extension.to_ascii_lowercase());
        name
    };
    let names: Vec<_> = extensions
        .split(';')
        .filter(|it| !it.is_empty())
        .map(with_extension)
        .collect();
    let mut candidates = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    candidates
        .find(|path| exists(path))
        .map_or_else(|| program.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_by_their_extension() {
        let folders = ["a", "b"].map(Into::into);
        let exists = |path: &Path| path == Path::new("b").join("npx.cmd");
        let found = |name: &str| find_in(OsStr::new(name), &folders, ".EXE;.CMD", exists);
        assert_eq!(found("npx"), Path::new("b").join("npx.cmd"));
        assert_eq!(found("uvx"), "uvx");
        assert_eq!(found("npx.exe"), "npx.exe");
    }
}
