-- Mail that leaves. See relaylink-core/src/mail/outbox.rs for what the columns say together.
-- The text comes last: what only looks at a letter's state reads none of it.
CREATE TABLE outbox (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    about TEXT NOT NULL,
    recipient TEXT,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'unknown')),
    due BIGINT NOT NULL,
    lease TEXT,
    attempts BIGINT NOT NULL,
    created BIGINT NOT NULL,
    settled BIGINT,
    message_id TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL,
    trouble TEXT,
    detail TEXT,
    subject TEXT NOT NULL,
    body TEXT NOT NULL
);

-- No index begins with the state: the planner would take it for the courier's own look, and sort.
CREATE INDEX outbox_due ON outbox (due, id) WHERE state = 'waiting';
CREATE INDEX outbox_about ON outbox (account, about, id);
