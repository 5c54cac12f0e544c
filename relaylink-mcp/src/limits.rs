//! The adapter's limits, each with its reason.

use std::time::Duration;

/// Calls that run at one time, unless told otherwise. Well over what a store's lanes take, and few
/// enough that their arguments and replies fit in memory at their largest.
pub const IN_FLIGHT: usize = 64;

/// Calls that may wait for a place among those in flight. Beyond it a call is refused at once:
/// its client would have given up before its turn.
pub const WAITING: usize = 1024;

/// Characters of a server's instructions, which each client puts before its model. The number is
/// the first that is too many.
pub const INSTRUCTIONS: usize = 600;

/// Bytes of one message, in a line on stdio or a body over HTTP. Room for the longest honest
/// draft; a document comes in pieces.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Answers that may wait to be written on stdio. While a client reads none of them, no more of
/// its requests are read.
pub const ANSWERS: usize = 64;

/// How long the last answers may take to be written once a stdio session is over.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long a request's body may take to arrive.
pub const BODY: Duration = Duration::from_secs(30);

/// How long a client may accept not one byte of what is written to it; then it is dropped.
pub const STALLED: Duration = Duration::from_secs(30);

/// How long a connection may bring nothing, be it between requests or while an answer is made and
/// taken; then it is dropped. Longer than any call.
pub const IDLE: Duration = Duration::from_mins(5);

/// Requests over HTTP that are in memory at one time, each from before its body is read until the
/// last of its answer is handed to the system for sending; more wait before their bodies are read.
pub const REQUESTS: usize = 256;

/// Connections over HTTP that are open at one time; more wait to be accepted. Half of the 1,024 files
/// that systems commonly let a process open, so that the store and the mail always have theirs.
pub const CONNECTIONS: usize = 512;

/// How long running requests may take to end once the server is told to stop. Under the ten
/// seconds after which supervisors kill.
pub const SHUTDOWN: Duration = Duration::from_secs(8);
