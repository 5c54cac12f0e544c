//! Running the program, and talking to it.

use std::{
    ffi::OsStr,
    fs,
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value as Json, json};

use crate::database::Database;

/// A data directory, and the database where the store is in one; gone when it is dropped.
pub(crate) struct Data {
    folder: tempfile::TempDir,
    database: Option<Arc<Database>>,
}

/// What a run of the program left.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Data {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: None }
    }

    /// An empty one of each engine that there is.
    pub(crate) fn each() -> impl Iterator<Item = Self> {
        let of = |database| Self { database, ..Self::new() };
        std::iter::once(None).chain(Database::new().map(|database| Some(Arc::new(database)))).map(of)
    }

    /// An empty one in a database, where there is one.
    pub(crate) fn in_database() -> Option<(Self, Arc<Database>)> {
        let database = Arc::new(Database::new()?);
        Some((Self { database: Some(Arc::clone(&database)), ..Self::new() }, database))
    }

    /// Another folder over the same database, as another server has.
    pub(crate) fn beside(&self) -> Self {
        Self { database: self.database.clone(), ..Self::new() }
    }

    /// Whether the store is a file.
    pub(crate) fn is_in_file(&self) -> bool {
        self.database.is_none()
    }

    /// The program on this data directory, with no other setting than these arguments.
    pub(crate) fn program<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relaylink"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RELAYLINK_") {
                command.env_remove(name);
            }
        }
        if let Some(database) = &self.database {
            command.env("RELAYLINK_STORE", database.url());
        }
        command.env("RELAYLINK_DATA", self.folder.path().join("data")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it, its arguments apart by spaces, to its end.
    pub(crate) fn run(&self, arguments: &str) -> Ended {
        ended(self.program(arguments.split(' ')))
    }

    /// Runs it to its end and gives what it wrote to stdout, without the last line end.
    pub(crate) fn done(&self, arguments: &str) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments}: {}", ended.stderr);
        ended.stdout.trim_end().to_owned()
    }

    /// An account for Ana.
    pub(crate) fn with_ana() -> Self {
        let data = Self::new();
        data.done("account create ana@example.org --name Ana");
        data
    }

    /// The store's file.
    pub(crate) fn store(&self) -> std::path::PathBuf {
        self.folder.path().join("data/relaylink.db")
    }

    /// Where the store is.
    pub(crate) fn place(&self) -> String {
        let folder = || self.folder.path().join("data").to_str().unwrap().to_owned();
        self.database.as_ref().map_or_else(folder, |database| database.url())
    }

    /// The mails written so far.
    pub(crate) fn mails(&self) -> Vec<String> {
        let Ok(mails) = fs::read_dir(self.folder.path().join("data/mail")) else {
            return Vec::new();
        };
        let mails = mails.map(|mail| mail.unwrap().path());
        mails
            .filter(|mail| mail.extension() == Some("eml".as_ref()))
            .map(|mail| fs::read_to_string(mail).unwrap())
            .collect()
    }
}

pub(crate) fn ended(mut command: Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Reads all that a program logs, so that it never waits for whoever reads it.
fn drained(mut stderr: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut log = String::new();
        stderr.read_to_string(&mut log).unwrap();
        log
    })
}

/// A client that has started the program for itself.
pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    log: JoinHandle<String>,
    sent: u64,
}

impl Client {
    pub(crate) fn start(mut program: Command) -> Self {
        let mut child = program.stdin(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let log = drained(child.stderr.take().unwrap());
        let mut client = Self { child, stdin, stdout, log, sent: 0 };
        let me = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me });
        client.ask("initialize", &hello);
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn write(&mut self, message: &Json) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn send(&mut self, method: &str, params: &Json) -> u64 {
        self.sent += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params }));
        self.sent
    }

    /// The next answer, to whatever request.
    pub(crate) fn answer(&mut self) -> Json {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: &Json) -> Json {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id);
        answer["result"].clone()
    }

    /// Calls a tool, and gives the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Json) -> Json {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The names of the tools it is offered.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let tools = self.ask("tools/list", &json!({}));
        tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Ends its side, and waits for the program to end.
    pub(crate) fn end(self) -> Ended {
        let Self { mut child, stdin, mut stdout, log, .. } = self;
        drop(stdin);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        Ended { code: child.wait().unwrap().code(), stdout: rest, stderr: log.join().unwrap() }
    }
}

/// A request to the server at this address.
fn posting(address: &str, key: &str, method: &str, params: &Json) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Status and body of the answer, waited for with this patience.
fn exchange(address: &str, request: &str, patience: Option<Duration>) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(patience)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let cut = || io::Error::from(ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    Ok((status, body.to_owned()))
}

/// Calls a tool at a server that may be gone, and gives the result; an error where no whole answer came.
pub(crate) fn call_at(
    address: &str,
    key: &str,
    tool: &str,
    arguments: &Json,
    patience: Duration,
) -> io::Result<Json> {
    let params = json!({ "name": tool, "arguments": arguments });
    let (status, body) = exchange(address, &posting(address, key, "tools/call", &params), Some(patience))?;
    assert_eq!(status, 200, "{body}");
    Ok(serde_json::from_str::<Json>(&body)?["result"].clone())
}

/// A server in a process of its own.
pub(crate) struct Server {
    child: Child,
    /// What it logged until it listened, and what it logs from then on.
    log: (String, Option<JoinHandle<String>>),
    address: String,
}

impl Server {
    /// Starts one on a free port.
    pub(crate) fn start(mut program: Command) -> Self {
        let mut child = program.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        let address = loop {
            let mut line = String::new();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended: {log}");
            log += &line;
            if let Some(address) = line.strip_prefix("listening on http://") {
                break address.trim().strip_suffix("/mcp").unwrap().to_owned();
            }
        };
        Self { child, log: (log, Some(drained(stderr))), address }
    }

    /// Posts one request with this key, and gives status and body.
    pub(crate) fn post(&self, key: &str, method: &str, params: &Json) -> (u16, String) {
        self.ask(&posting(&self.address, key, method, params))
    }

    /// Gets what is there, calling the server by this name and without a key; gives status and body.
    pub(crate) fn get(&self, path: &str, host: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    fn ask(&self, request: &str) -> (u16, String) {
        exchange(&self.address, request, None).unwrap()
    }

    /// Calls a tool with this key, and gives the result.
    pub(crate) fn call(&self, key: &str, tool: &str, arguments: &Json) -> Json {
        let (status, body) = self.post(key, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<Json>(&body).unwrap()["result"].clone()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Asks it to end, as supervisors do.
    #[cfg(unix)]
    pub(crate) fn signal(&self) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
    }

    /// Asks it to end, and waits until it has.
    #[cfg(unix)]
    pub(crate) fn terminate(self) -> Ended {
        self.signal();
        self.ended()
    }

    /// Waits until it has ended.
    #[cfg(unix)]
    pub(crate) fn ended(mut self) -> Ended {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let (before, after) = (&self.log.0, self.log.1.take().unwrap());
        let stderr = before.clone() + &after.join().unwrap();
        Ended { code: self.child.wait().unwrap().code(), stdout, stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
