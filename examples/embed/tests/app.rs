//! The application as somebody would start it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// The application, ended with the test.
struct App(Child);

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the application answers to one request.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn list(address: &str, key: &str) -> String {
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    ask(
        address,
        &format!("{head}authorization: Bearer {key}\r\ncontent-length: {}\r\n\r\n{LIST}", LIST.len()),
    )
}

#[test]
fn the_applications_routes_and_the_relays_are_served_side_by_side() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_embed"));
    program.arg(folder.path().join("embed.db")).arg("127.0.0.1:0").stderr(Stdio::piped());
    let mut app = App(program.spawn().expect("it starts"));
    let mut said =
        BufReader::new(app.0.stderr.take().expect("piped")).lines().map(|line| line.expect("text"));
    let mut last_word =
        || said.next().and_then(|line| line.rsplit(' ').next().map(str::to_owned)).expect("a line");
    let key = last_word();
    let address = last_word().replace("http://", "");

    let own = ask(&address, "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(own.starts_with("HTTP/1.1 200") && own.contains("a relay at /mcp"), "{own}");
    let listed = list(&address, &key);
    assert!(listed.starts_with("HTTP/1.1 200") && listed.contains("memory_forget"), "{listed}");
    let refused = list(&address, "rlk_wrong");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
}
