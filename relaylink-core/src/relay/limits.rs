//! Every limit, with its reason.

/// Rows of a list page unless told.
pub const PAGE_DEFAULT: u32 = 20;
/// Rows of a list page at most: a page stays well under what clients accept as one result.
pub const PAGE_MAX: u32 = 100;
/// Characters of a cursor at most: several times the longest key of a list.
pub const CURSOR_MAX: usize = 400;
/// Characters of a name at most: it fits a line of a prompt.
pub const NAME_MAX: usize = 100;
/// Characters of an e-mail address at most, as SMTP has it (RFC 5321, 4.5.3.1.3).
pub const ADDRESS_MAX: usize = 254;
/// Characters of a mail's subject at most: clients show fewer in a list.
pub const MAIL_SUBJECT_MAX: usize = 200;
/// Bytes of a mail's text at most: encoded it is well under the 10 MB that mail servers commonly take.
pub const MAIL_BODY_MAX: usize = 1024 * 1024;
/// Characters of a search term: a longer word counts by its beginning, so that no index entry
/// outgrows what an engine takes as one.
pub const TERM_MAX: usize = 64;
/// Milliseconds within which a key's use is written down once: nobody needs it finer, and finer
/// would make a write of every read.
pub const KEY_USE_EVERY: i64 = 60_000;
