use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, ClientConfig},
    service::RunningService,
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Map, Value as Json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::failure::Failure;

/// How long the server may take to say where it listens, and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the courier may take to write a letter.
const POST: Duration = Duration::from_secs(5);

pub(super) const ANA: &str = "ana@example.org";
pub(super) const BEN: &str = "ben@example.org";

/// A server of this program on a temporary directory, and who talks to it.
pub(super) struct Stage {
    folder: TempDir,
    server: Child,
    pub(super) ana: Actor,
    /// Ana's account again, by a key that can only read.
    pub(super) reader: Actor,
    pub(super) ben: Actor,
}

/// Somebody's client, connected with their key.
pub(super) struct Actor {
    pub(super) name: &'static str,
    client: RunningService<RoleClient, ClientConfig>,
    /// The tools as they are listed for this key, on the wire.
    pub(super) tools: Vec<Json>,
}

/// What a tool answered.
pub(super) enum Answer {
    Reply(Json),
    /// The refusal's JSON.
    Refusal(Json),
}

/// A letter that was written.
pub(super) struct Mail {
    pub(super) to: String,
    pub(super) subject: String,
}

impl Stage {
    /// Makes two accounts and their keys, starts the server and connects.
    pub(super) async fn set() -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(failed("its own program cannot be found"))?;
        let folder = tempfile::tempdir().map_err(failed("no temporary directory can be made"))?;
        let run = Program { program: &program, data: folder.path() };
        run.words(&["account", "create", ANA, "--name", "Ana"]).await?;
        run.words(&["account", "create", BEN, "--name", "Ben"]).await?;
        let ana = run.words(&["key", "create", ANA, "--name", "laptop"]).await?;
        let reader = run.words(&["key", "create", ANA, "--name", "phone", "--read-only"]).await?;
        let ben = run.words(&["key", "create", BEN, "--name", "laptop"]).await?;
        let (server, url) = run.serve().await?;
        Ok(Self {
            ana: Actor::connect("Ana", &url, &ana).await?,
            reader: Actor::connect("Ana's phone", &url, &reader).await?,
            ben: Actor::connect("Ben", &url, &ben).await?,
            folder,
            server,
        })
    }

    /// Waits until so many letters are written, and gives them in order.
    pub(super) async fn mails(&self, count: usize) -> Result<Vec<Mail>, Failure> {
        let folder = self.folder.path().join("mail");
        let waited = timeout(POST, async {
            loop {
                let mails = letters(&folder)?;
                if mails.len() >= count {
                    return Ok(mails);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        match waited.await {
            Ok(mails) => mails,
            Err(_) => letters(&folder),
        }
    }

    /// Disconnects and ends the server.
    pub(super) async fn strike(mut self) -> Result<(), Failure> {
        for actor in [self.ana, self.reader, self.ben] {
            // The server is sessionless and is about to end: nothing rests on a farewell.
            let _ = actor.client.cancel().await;
        }
        self.server.start_kill().map_err(failed("the server cannot be ended"))?;
        timeout(PATIENCE, self.server.wait())
            .await
            .map_err(|_| Failure::new("the server does not end"))?
            .map_err(failed("the server cannot be ended"))?;
        Ok(())
    }
}

impl Actor {
    async fn connect(name: &'static str, url: &str, key: &str) -> Result<Self, Failure> {
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(key);
        // The server is on this machine, where no proxy leads.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build();
        let http = http.map_err(failed("no client can be made"))?;
        let client = ClientConfig::default()
            .serve(StreamableHttpClientTransport::with_client(http, config))
            .await
            .map_err(unanswered(&format!("the tour's own server at {url} cannot be reached")))?;
        let listed = client.list_all_tools().await;
        let listed = listed.map_err(unanswered("the tour's own server does not list its tools"))?;
        let tools = listed.iter().map(serde_json::to_value).collect::<Result<_, _>>();
        Ok(Self { name, client, tools: tools.map_err(failed("the tools cannot be read"))? })
    }

    /// The tool of this name, as it is listed.
    pub(super) fn tool(&self, name: &str) -> Option<&Json> {
        self.tools.iter().find(|tool| tool["name"] == name)
    }

    pub(super) async fn call(
        &self,
        tool: &'static str,
        arguments: Map<String, Json>,
    ) -> Result<Answer, Failure> {
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.client.call_tool(request).await;
        let result = result.map_err(unanswered(&format!("the tour's call of {tool} got no answer")))?;
        let text = result.content.first().and_then(|block| block.as_text()).map_or("", |block| &block.text);
        let text = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        Ok(match (result.is_error, result.structured_content) {
            (Some(true), _) => Answer::Refusal(text),
            (_, Some(reply)) => Answer::Reply(reply),
            (_, None) => Answer::Reply(text),
        })
    }
}

struct Program<'a> {
    program: &'a Path,
    data: &'a Path,
}

impl Program<'_> {
    /// This program on the stage's directory, deaf to the settings of whoever plays the tour.
    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("RELAYLINK_")) {
                command.env_remove(name);
            }
        }
        command.arg("--data").arg(self.data).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs it with these words, and gives what it writes.
    async fn words(&self, words: &[&str]) -> Result<String, Failure> {
        let ran =
            self.command().args(words).output().await.map_err(failed("the program cannot be started"))?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            return Err(Failure::new(format!(
                "`relaylink {}` failed: {}",
                words[..2].join(" "),
                said.trim()
            )));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    }

    /// Starts it as a server on a free port, and gives the address it says.
    async fn serve(&self) -> Result<(Child, String), Failure> {
        let mut command = self.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--until-input-ends"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed("the server cannot be started"))?;
        let stderr = child.stderr.take().ok_or_else(|| Failure::new("the server cannot be heard"))?;
        let mut lines = BufReader::new(stderr).lines();
        let mut said = Vec::new();
        let address = timeout(PATIENCE, async {
            while let Ok(Some(line)) = lines.next_line().await {
                match line.split_once("listening on ") {
                    Some((_, address)) => return Some(address.trim().to_owned()),
                    None => said.push(line),
                }
            }
            None
        });
        let Ok(Some(address)) = address.await else {
            return Err(Failure::new(format!("the server did not start: {}", said.join("; "))));
        };
        // What it says later is its log; it must not wait for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok((child, address))
    }
}

/// The letters in a folder, in the order they were written.
fn letters(folder: &Path) -> Result<Vec<Mail>, Failure> {
    let unreadable = "the letters cannot be read";
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(files) => files.filter_map(|file| Some(file.ok()?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(unreadable)(error)),
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "eml"));
    files.sort();
    let read = |file: &PathBuf| {
        let bytes = std::fs::read(file).map_err(failed(unreadable))?;
        let message = mail_parser::MessageParser::default().parse(&bytes);
        let message = message.ok_or_else(|| Failure::new("a letter is no e-mail message"))?;
        let to = message.to().and_then(|to| to.first()).and_then(|to| to.address()).unwrap_or_default();
        Ok(Mail { to: to.to_owned(), subject: message.subject().unwrap_or_default().to_owned() })
    };
    files.iter().map(read).collect()
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Failure {
    move |error| Failure::new(format!("{what}: {error}"))
}

/// What the protocol library says is for its developers: a person reads it in the log alone.
fn unanswered<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> Failure + use<'_, E> {
    move |error| {
        tracing::debug!(%error, "the tour's client failed");
        Failure::new(what).hint("See why: RELAYLINK_LOG=relaylink=debug relaylink tour")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_is_not_there_is_told_in_words() {
        let connected = Actor::connect("Ana", "http://127.0.0.1:1/mcp", "key").await;
        let told = format!("{:?}", connected.err());
        assert!(told.contains("server at http://127.0.0.1:1/mcp cannot be reached"), "{told}");
        assert!(!told.contains("::"), "{told}");
    }
}
