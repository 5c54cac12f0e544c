-- Who there is, and the API keys by which they call.

CREATE TABLE accounts (
    -- Small: the account's search terms begin with it.
    number BIGINT NOT NULL UNIQUE,
    id TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    address_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    -- The first and the last six characters of its secret; null for a key without one.
    shown TEXT,
    created BIGINT NOT NULL,
    expires BIGINT,
    revoked BIGINT,
    -- A JSON object from effect to allow, stage or refuse; what is not in it is refused.
    ceiling TEXT NOT NULL,
    UNIQUE (account, name_key)
);

CREATE INDEX api_keys_newest ON api_keys (account, id);

-- What opens an account: SHA-256 of the secret, in hex. Revoking a key deletes its row.
CREATE TABLE key_hashes (
    hash TEXT PRIMARY KEY,
    key TEXT NOT NULL UNIQUE REFERENCES api_keys (id)
);

-- Bookkeeping: written by whoever keeps house, a row a key a minute at most, and no part of what
-- a tool leaves unchanged.
CREATE TABLE key_use (
    key TEXT PRIMARY KEY,
    last_used BIGINT NOT NULL
);
