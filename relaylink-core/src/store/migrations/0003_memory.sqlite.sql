-- What an account's assistants are to remember.

CREATE TABLE memories (
    -- The row of its search terms.
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL REFERENCES accounts (id),
    text TEXT NOT NULL,
    about TEXT,
    about_key TEXT,
    created BIGINT NOT NULL
);

CREATE INDEX memories_newest ON memories (account, id);

-- The terms are made by the program: see relay/terms.rs. Whether they occur is all that is asked.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '~'"
);

-- Ids of memories that were taken away.
CREATE TABLE memories_gone (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id)
);
