-- Mail that leaves. See relaylink-core/src/mail/outbox.rs for what the columns say together.
CREATE TABLE outbox (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    about TEXT NOT NULL,
    recipient TEXT,
    address TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    message_id TEXT NOT NULL UNIQUE,
    created BIGINT NOT NULL,
    due BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'unknown')),
    lease TEXT,
    settled BIGINT,
    trouble TEXT,
    detail TEXT
);

CREATE INDEX outbox_due ON outbox (due, id) WHERE state = 'waiting';
CREATE INDEX outbox_about ON outbox (account, about, id);
CREATE INDEX outbox_state ON outbox (state, id);
