//! Redis, nginx and server processes, for the time of a test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::wire::Wire;
use super::within;

/// A folder of its own, until it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new(kind: &str, port: u16) -> Self {
        let name = format!("oxmcp-{kind}-{}-{port}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the folder for temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a program says that it is ready. False when it ends instead, as when its port was taken meanwhile.
async fn says(output: impl AsyncRead + Unpin + Send + 'static, what: &str) -> bool {
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = within(lines.next_line()).await.unwrap() {
        if line.contains(what) {
            // So that it never waits for its reader.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return true;
        }
    }
    false
}

fn start(program: &str, args: &[&str]) -> Child {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let started = command.spawn();
    started.unwrap_or_else(|error| {
        panic!("{program} does not start: {error}; install it, on Debian: apt-get install redis-server nginx-light")
    })
}

async fn send_signal(child: &Child, signal: &str) {
    let process = child.id().unwrap().to_string();
    let status = Command::new("kill").args(["-s", signal, &process]).status().await;
    assert!(status.unwrap().success());
}

/// A Redis server that writes everything to files, so that it comes back with all it had.
pub(crate) struct Redis {
    pub port: u16,
    folder: Folder,
    child: Child,
}

impl Redis {
    pub(crate) async fn start() -> Self {
        loop {
            let port = free_port();
            let folder = Folder::new("redis", port);
            if let Some(child) = Self::run(port, &folder.0).await {
                return Self { port, folder, child };
            }
        }
    }

    async fn run(port: u16, folder: &Path) -> Option<Child> {
        let (port, folder) = (port.to_string(), folder.to_str().unwrap());
        let mut child = start(
            "redis-server",
            &[
                "--port",
                &port,
                "--bind",
                "127.0.0.1",
                "--dir",
                folder,
                "--appendonly",
                "yes",
                "--appendfsync",
                "no",
                "--save",
                "",
            ],
        );
        let output = child.stdout.take().unwrap();
        says(output, "Ready to accept connections").await.then_some(child)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(crate) async fn stop(&mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) async fn signal(&self, signal: &str) {
        send_signal(&self.child, signal).await;
    }

    pub(crate) async fn start_again(&mut self) {
        let child = Self::run(self.port, &self.folder.0).await;
        self.child = child.expect("Redis did not start again");
    }

    /// The keys, and the milliseconds that each lives.
    pub(crate) async fn keys(&self) -> Vec<(String, i64)> {
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
        let mut all = Vec::new();
        for key in keys {
            let ttl = redis::cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
            all.push((key, ttl));
        }
        all
    }
}

/// A server process.
pub(crate) struct Node {
    pub port: u16,
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Node {
    pub(crate) async fn start(redis: &Redis, settings: &[&str]) -> Self {
        let mut command = Command::new(program());
        command
            .arg(redis.url())
            .args(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = within(output.next_line())
            .await
            .unwrap()
            .expect("the server did not start");
        let port = first.strip_prefix("port ").unwrap().parse().unwrap();
        Self {
            port,
            child,
            input,
            output,
        }
    }

    pub(crate) async fn connect(&self) -> Wire {
        Wire::open(self.port).await
    }

    pub(crate) fn process(&self) -> String {
        self.child.id().unwrap().to_string()
    }

    pub(crate) async fn tell(&mut self, what: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{what}\n").as_bytes()).await.unwrap();
    }

    /// Waits until it says this.
    pub(crate) async fn saw(&mut self, what: &str) {
        let line = within(self.output.next_line()).await.unwrap();
        assert_eq!(line.as_deref(), Some(what));
    }

    pub(crate) async fn signal(&self, signal: &str) {
        send_signal(&self.child, signal).await;
    }

    /// Ends it by a signal that it cannot see.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until it has ended in good order.
    pub(crate) async fn stop(&mut self) {
        self.tell("stop").await;
        assert!(within(self.child.wait()).await.unwrap().success());
    }
}

/// The example that cargo built with this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    folder.join("examples").join("shared_server")
}

/// A load balancer that gives each request to the next of the servers.
pub(crate) struct Nginx {
    pub port: u16,
    _folder: Folder,
    _child: Child,
}

impl Nginx {
    pub(crate) async fn start(nodes: &[Node]) -> Self {
        loop {
            let port = free_port();
            let folder = Folder::new("nginx", port);
            let config = folder.0.join("nginx.conf");
            std::fs::write(&config, Self::config(port, &folder.0, nodes)).unwrap();
            let path = folder.0.to_str().unwrap();
            let mut child = start("nginx", &["-e", "stderr", "-p", path, "-c", config.to_str().unwrap()]);
            let output = child.stderr.take().unwrap();
            if says(output, "getrlimit").await {
                return Self {
                    port,
                    _folder: folder,
                    _child: child,
                };
            }
        }
    }

    fn config(port: u16, folder: &Path, nodes: &[Node]) -> String {
        let folder = folder.display();
        let servers: String = nodes
            .iter()
            .map(|node| format!("server 127.0.0.1:{} max_fails=1 fail_timeout=1s; ", node.port))
            .collect();
        // Without a master, the one process ends when it is killed.
        format!(
            "daemon off; master_process off; pid {folder}/pid; error_log stderr notice; worker_processes 1; events {{}}
            http {{
                access_log off;
                client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
                fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
                upstream servers {{ {servers} }}
                server {{
                    listen 127.0.0.1:{port};
                    location /mcp {{
                        proxy_pass http://servers;
                        proxy_http_version 1.1;
                        proxy_set_header Connection \"\";
                        proxy_set_header Host $host;
                        proxy_buffering off;
                        proxy_read_timeout 1h;
                        add_header X-Server $upstream_addr always;
                    }}
                }}
            }}"
        )
    }

    pub(crate) async fn connect(&self) -> Wire {
        Wire::open(self.port).await
    }
}

/// Three servers that share their state.
pub(crate) struct Fleet {
    // In the order in which they end.
    pub nodes: Vec<Node>,
    pub redis: Redis,
}

impl Fleet {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(settings: &[&str]) -> Self {
        let redis = Redis::start().await;
        let mut nodes = Vec::new();
        for _ in 0..3 {
            nodes.push(Node::start(&redis, settings).await);
        }
        Self { nodes, redis }
    }
}
