-- The order of commits, for cursors that say "since": see relaylink-core/src/relay/since.rs. One row.
-- `era` is another in every store that is made or moved, so that a cursor of one means nothing to the next.
CREATE TABLE changes (
    one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    era TEXT NOT NULL,
    -- The server whose transactions the places are; those of another count from elsewhere.
    server TEXT
);
INSERT INTO changes (one, era) VALUES (1, substr(md5(CAST(gen_random_uuid() AS TEXT)), 1, 16));
