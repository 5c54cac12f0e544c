-- A person as one account knows them: a request that it made while `accepted` is null, a contact
-- after that. A request bears the address that was asked and, for the one who is asked, who asks.
CREATE TABLE contacts (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    address_key TEXT NOT NULL,
    address TEXT NOT NULL,
    created BIGINT NOT NULL,
    accepted BIGINT,
    peer TEXT REFERENCES accounts (id),
    name TEXT,
    name_key TEXT,
    request TEXT,
    note TEXT,
    asker_key TEXT,
    asker_address TEXT,
    asker_name TEXT
);
CREATE UNIQUE INDEX contacts_person ON contacts (account, address_key);
CREATE UNIQUE INDEX contacts_request ON contacts (request);
CREATE INDEX contacts_accepted ON contacts (account, id) WHERE accepted IS NOT NULL;
CREATE INDEX contacts_outgoing ON contacts (account, id) WHERE accepted IS NULL;
CREATE INDEX contacts_incoming ON contacts (address_key, request) WHERE accepted IS NULL;

-- The names that contacts bore, for finding them by one.
CREATE TABLE contact_names (
    account TEXT NOT NULL REFERENCES accounts (id),
    name_key TEXT NOT NULL,
    address_key TEXT NOT NULL,
    address TEXT NOT NULL,
    PRIMARY KEY (account, name_key, address_key)
);

-- Who has blocked which address. The id is that of the contact it was, if it was one.
CREATE TABLE blocks (
    account TEXT NOT NULL REFERENCES accounts (id),
    address_key TEXT NOT NULL,
    id TEXT NOT NULL,
    address TEXT NOT NULL,
    name TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (account, address_key)
);
CREATE UNIQUE INDEX blocks_listed ON blocks (account, id);

-- Every request that was made, for the caps of a day. It outlives the request.
CREATE TABLE invites (
    request TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    address_key TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX invites_by ON invites (account, at, address_key);
CREATE INDEX invites_to ON invites (address_key, at);
