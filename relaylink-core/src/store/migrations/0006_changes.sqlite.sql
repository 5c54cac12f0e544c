-- The order of commits, for cursors that say "since": see relaylink-core/src/relay/since.rs. One row.
-- `era` is another in every store that is made or moved, so that a cursor of one means nothing to the next.
CREATE TABLE changes (
    one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    era TEXT NOT NULL,
    -- The place of the newest change. One writes at a time, so the places are in the order of commits.
    place BIGINT NOT NULL
);
INSERT INTO changes (one, era, place) VALUES (1, lower(hex(randomblob(8))), 0);
