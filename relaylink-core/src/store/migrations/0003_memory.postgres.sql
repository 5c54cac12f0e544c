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

-- The terms are made by the program: see relay/terms.rs. They are lexemes as they are, and nothing
-- here takes them apart again.
CREATE TABLE memory_terms (
    number BIGINT NOT NULL PRIMARY KEY,
    terms TSVECTOR NOT NULL
);
CREATE INDEX memory_terms_found ON memory_terms USING gin (terms);

-- Ids of memories that were taken away.
CREATE TABLE memories_gone (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id)
);
