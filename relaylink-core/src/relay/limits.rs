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
/// Characters of a Message-ID at most: an id of ours and the longest domain fit, and a header's line holds it.
pub const MESSAGE_ID_MAX: usize = 400;
/// Characters kept of what a mail server answered to an attempt: enough to act on.
pub const MAIL_ANSWER_MAX: usize = 500;
/// Attempts a courier makes at once: a few that stall leave room for the others.
pub const MAIL_IN_FLIGHT: usize = 16;
/// Seconds an attempt may take before its outcome counts as unknown: longer than a mailer's own time-outs.
pub const MAIL_SEND_SECONDS: u64 = 120;
/// Seconds an attempt's lease outlives its time-out: for the record to be written, and for clocks that differ.
pub const MAIL_LEASE_MARGIN_SECONDS: u64 = 60;
/// Seconds after which a courier looks for mail that other processes queued.
pub const MAIL_POLL_SECONDS: u64 = 2;
/// Seconds until the second attempt; doubled for each one after it.
pub const MAIL_RETRY_FIRST_SECONDS: u64 = 30;
/// Seconds between two attempts at most.
pub const MAIL_RETRY_MOST_SECONDS: u64 = 60 * 60;
/// Attempts at a letter at most: with the waits between them about four days, as SMTP asks (RFC 5321, 4.5.4.1).
pub const MAIL_ATTEMPTS_MAX: u32 = 100;
/// Seconds that attempts under way are given when the courier is told to stop, and then their record: a
/// program is to be gone in ten.
pub const MAIL_STOP_SECONDS: u64 = 4;
/// Milliseconds that a look at the outbox which is under way is given before that, of the same ten seconds.
pub const MAIL_STOP_LOOK_MS: u64 = 1_500;
/// How often the end of an attempt is told to a store that does not listen: with the waits between
/// them well within the lease's margin. Then the lease runs out, and the letter is unknown.
pub const MAIL_RECORDS_MAX: u32 = 8;
/// Milliseconds until it is told the second time; doubled for each one after it.
pub const MAIL_RECORD_AGAIN_MS: u64 = 50;
/// Characters of a Message-ID that go into the name of a mail's file: a name has at most 255 bytes.
pub const MAIL_FILE_NAME_MAX: usize = 200;
/// Characters of one memory at most: a fact, not a document.
pub const MEMORY_MAX: usize = 4_000;
/// Characters of a search at most: a long passage can be pasted, and its words still be looked up
/// within a read's deadline.
pub const QUERY_MAX: usize = 10_000;
/// Terms of a search that the index is asked at most: it opens each one before it answers. The
/// others are looked for in what it answers.
pub const SEARCH_TERMS_MAX: usize = 64;
/// Milliseconds after which mail that should have been looked after is told when a store is checked: a
/// server that is started again meanwhile has long done it.
pub const MAIL_OVERDUE_MS: i64 = 60 * 60 * 1_000;
/// Milliseconds of a day, over which invitations and mails are counted.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// Characters of the note of an invitation at most: a greeting, no letter.
pub const NOTE_MAX: usize = 500;
/// Characters of that note that its mail shows: too few to make a mail of one's own out of it.
pub const LETTER_NOTE_MAX: usize = 200;
/// Characters of a name in a mail's subject and first line: a name, no sentence.
pub const LETTER_NAME_MAX: usize = 40;
/// Invitations of an account in a day: a busy first day, no campaign.
pub const INVITES_PER_ACCOUNT_A_DAY: i64 = 50;
/// Invitations to an address in a day, whoever asks: one mailbox is not to be flooded by many.
pub const INVITES_PER_ADDRESS_A_DAY: i64 = 10;
/// Invitations of an account to the same address in a day: one may be withdrawn and sent anew,
/// and a loop of that is to end.
pub const INVITES_PER_PAIR_A_DAY: i64 = 3;
/// Requests of an account that wait for an answer at a time.
pub const INVITES_WAITING_MAX: i64 = 500;
/// Rows of each kind that a search among contacts looks through at a time: a few pages' worth.
pub const CONTACTS_BATCH: usize = 200;
/// People of one name whose addresses a refusal gives at most: enough to know the right one by.
pub const NAMESAKES_MAX: i64 = 10;
/// Characters of a package's subject at most: one line of a prompt and of a list.
pub const SUBJECT_MAX: usize = 200;
/// Characters of a package's body at most: with the rest it stays within what clients take as one
/// result.
pub const BODY_MAX: usize = 30_000;
/// Characters of what a sender asks for at most: a list of questions, no second body.
pub const ASKS_MAX: usize = 4_000;
/// Characters of a package's context at most: facts and decisions, no second body.
pub const CONTEXT_MAX: usize = 12_000;
/// People that a draft names at most: beyond that it is a mailing.
pub const RECIPIENTS_MAX: usize = 50;
/// Characters of a page of drafts: it stays within what clients take as one result.
pub const DRAFTS_PAGE_MAX: i64 = 60_000;
/// Recipients on a page of a thread's status, beyond those of its first package: likewise.
pub const STATUS_PAGE_MAX: usize = 300;
/// Mails of an account's packages in a day: more than people write, fewer than a loop sends.
pub const MAILS_PER_ACCOUNT_A_DAY: i64 = 2_000;
/// Mails of an account's packages to the same person in a day: likewise.
pub const MAILS_PER_PAIR_A_DAY: i64 = 500;
/// Transactions under way that a cursor names, which says "since": a server has fewer at a time. Where there
/// are more, what is between the later ones is shown again.
pub const UNDER_WAY_MAX: usize = 150;
/// Characters of a cursor that says "since": room for so many numbers of transactions.
pub const SINCE_MAX: usize = 4_096;
