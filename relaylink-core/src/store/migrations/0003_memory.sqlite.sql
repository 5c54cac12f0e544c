-- What an account's assistants are to remember.

CREATE TABLE memories (
    -- The row of its search terms: the account's number times 2^32, and a count within the account,
    -- so that the newest of an account are found without a look at the others'.
    number BIGINT NOT NULL UNIQUE,
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    text TEXT NOT NULL,
    about TEXT,
    about_key TEXT,
    created BIGINT NOT NULL
);

CREATE INDEX memories_newest ON memories (account, number);

-- The terms are made by the program: see relay/terms.rs. Whether they occur is all that is asked.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '~'"
);

-- Ids of memories that were taken away.
CREATE TABLE memories_gone (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id)
);
