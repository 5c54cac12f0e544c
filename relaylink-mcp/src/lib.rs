//! Any RelayLink toolset as an MCP server: over stdio, and over streamable HTTP as an
//! [`axum::Router`] that merges into a server of yours.
//!
//! It holds no rule of any tool: it lists what the toolset lists for the caller, passes calls on,
//! and puts replies and refusals into MCP's shapes. What is listed follows from configuration and
//! credential, never from the connection. Clients of both protocol eras are served: those that
//! send `initialize` (2024-11-05 to 2025-11-25), and those that put everything into each request
//! (2026-07-28).
//!
//! # Logs
//! The protocol library underneath logs each request and reply at `DEBUG` (so people's text), each
//! error at `WARN` and each notification at `INFO`. Keep it at [`LOG_FILTER`], also when the rest
//! of the program logs more, and write logs to stderr: over stdio, stdout belongs to the protocol.

pub mod auth;
pub mod http;
pub mod limits;
pub mod stdio;

mod handler;
mod message;

pub use auth::Authenticate;
pub use handler::{InstructionsTooLong, Server};
pub use http::Http;

/// What to add to a `tracing` filter, so that the protocol library logs no people's text.
pub const LOG_FILTER: &str = "rmcp=error";
