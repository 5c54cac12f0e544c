//! A toolset over state of its own, and a client of each transport that can also misbehave.

pub(crate) mod house;
pub(crate) mod site;
pub(crate) mod tools;
pub(crate) mod wire;

use serde_json::{Value as Json, json};

pub(crate) use house::House;
pub(crate) use site::Site;
pub(crate) use wire::Wire;

pub(crate) fn request(id: u64, method: &str, params: &Json) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn call(id: u64, tool: &str, arguments: &Json) -> Json {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn initialize(version: &str) -> Json {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    request(0, "initialize", &params)
}

/// The refusal in an error result; fails where it has another shape than a refusal's.
pub(crate) fn refusal(answer: &Json) -> Json {
    let result = &answer["result"];
    assert_eq!(result["isError"], json!(true), "{answer}");
    assert_eq!(result.get("structuredContent"), None, "{answer}");
    let [block] = result["content"].as_array().unwrap().as_slice() else {
        panic!("one block: {answer}");
    };
    assert_eq!(block["type"], "text");
    serde_json::from_str(block["text"].as_str().unwrap()).unwrap()
}
