//! What is told of a file that the engine does not open, or finds damaged when it does.

use std::path::Path;

use rusqlite::ErrorCode;

use super::connection::error;
use crate::store::StoreError;

/// The engine's error as ours, with what to do where the file itself is in the way.
pub(super) fn unfit(path: &Path, found: rusqlite::Error) -> StoreError {
    let file = path.display();
    StoreError::Unusable(match found.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => format!(
            "{file} is no SQLite file: name another one; if it was a store, its first page is damaged: restore a backup"
        ),
        Some(ErrorCode::DatabaseCorrupt) => format!(
            "{file} is damaged ({found}). Keep a copy of it as it is, and restore a backup, as `relaylink backup` \
             makes them. Where there is none, `.recover` of a sqlite3 of 3.43 or later writes what can still be read, \
             as SQL"
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => format!(
            "{file} cannot be opened by this user ({found}). To read it takes the right to read it and the two \
             files of its log beside it, {file}-wal and {file}-shm, or, where they are not there, to make them in \
             {}. Run this as the user who serves the store; or have that user make a backup, and put it into a \
             folder that you may write to",
            path.parent().unwrap_or(path).display()
        ),
        _ => return error(found),
    })
}
