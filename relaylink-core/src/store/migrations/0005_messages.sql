CREATE TABLE drafts (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    thread TEXT,
    created BIGINT NOT NULL,
    size BIGINT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    asks TEXT,
    context TEXT
);
CREATE INDEX drafts_listed ON drafts (account, id, size);

-- Whom a draft names, in order. With a reason, it does not reach them.
CREATE TABLE draft_people (
    draft TEXT NOT NULL,
    place BIGINT NOT NULL,
    address TEXT NOT NULL,
    contact TEXT,
    name TEXT,
    reason TEXT,
    PRIMARY KEY (draft, place)
);

-- What became of a draft that is gone: the package it was sent as, or none.
CREATE TABLE ended_drafts (
    draft TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    at BIGINT NOT NULL,
    package TEXT,
    thread TEXT
);

CREATE TABLE packages (
    id TEXT NOT NULL PRIMARY KEY,
    thread TEXT NOT NULL,
    sender TEXT NOT NULL REFERENCES accounts (id),
    sender_address TEXT NOT NULL,
    sender_name TEXT NOT NULL,
    sent BIGINT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    asks TEXT,
    context TEXT
);
CREATE INDEX packages_sent ON packages (sender, thread, id);

-- A package as it went to one recipient. `seen` is when they first opened or acknowledged it.
CREATE TABLE deliveries (
    account TEXT NOT NULL REFERENCES accounts (id),
    package TEXT NOT NULL REFERENCES packages (id),
    place BIGINT NOT NULL,
    thread TEXT NOT NULL,
    sender TEXT NOT NULL,
    sender_key TEXT NOT NULL,
    sent BIGINT NOT NULL,
    address TEXT NOT NULL,
    seen BIGINT,
    PRIMARY KEY (account, package)
);
CREATE UNIQUE INDEX deliveries_of ON deliveries (package, place);
CREATE INDEX deliveries_unread ON deliveries (account, package) WHERE seen IS NULL;
CREATE INDEX deliveries_from ON deliveries (account, sender_key, package);
CREATE INDEX deliveries_in ON deliveries (account, thread, package);
CREATE INDEX deliveries_counted ON deliveries (sender, sent, account);

CREATE TABLE receipts (
    package TEXT NOT NULL,
    account TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (package, account)
);

CREATE TABLE acknowledgements (
    package TEXT NOT NULL,
    account TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (package, account)
);
