use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::limits::{SINCE_MAX, UNDER_WAY_MAX};
use crate::{
    store::{Row, Select, Session, Statement, StoreError, Value},
    tool::{Code, Refusal, Stop},
};

const NOW: Select = Select::new("SELECT era, (place + 1) || ':' || (place + 1) || ':' FROM changes")
    .on_postgres(
        "SELECT era || life, CAST(pg_current_snapshot() AS TEXT) FROM changes LEFT JOIN server_life ON TRUE",
    );

/// The era, and whether a place has been handed out yet.
const HANDED_OUT: Select = Select::new("SELECT era, CAST(?1 AS BIGINT) <= place + 1 FROM changes")
    .on_postgres(
        "SELECT era || life, \
     pg_snapshot_xmax(CAST(CAST(?1 AS TEXT) AS pg_snapshot)) <= pg_snapshot_xmax(pg_current_snapshot()) \
     FROM changes LEFT JOIN server_life ON TRUE",
    );

/// Gives the transaction its place in the order of commits.
static STAMP: Statement = Statement::of_each(
    "UPDATE changes SET place = place + 1 RETURNING place",
    "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)",
);

/// Up to where somebody has seen what changed: a cursor in the order of commits, not of times or ids. A
/// row that was written before a cursor was handed out, and committed after it, is behind the cursor.
///
/// A room keeps the [stamp](super::Tx::stamp) of a change beside it, in a column of type BIGINT named
/// `changed`, and asks for what is behind a cursor by a statement with two texts:
///
/// ```
/// # use relaylink_core::store::Select;
/// const NEW: Select = Select::new(
///     "SELECT id FROM notes WHERE account = ?1 AND changed >= CAST(?2 AS BIGINT) ORDER BY id",
/// )
/// .on_postgres(
///     "SELECT id FROM notes WHERE account = ?1 \
///      AND changed >= CAST(CAST(pg_snapshot_xmin(CAST(CAST(?2 AS TEXT) AS pg_snapshot)) AS TEXT) AS BIGINT) \
///      AND NOT pg_visible_in_snapshot(CAST(CAST(changed AS TEXT) AS xid8), CAST(CAST(?2 AS TEXT) AS pg_snapshot)) ORDER BY id",
/// );
/// ```
///
/// In `SQLite` one transaction writes at a time, and the place is counted in it. In `PostgreSQL` the place
/// is the transaction's number and the cursor a snapshot: what it could not see yet is behind it. After a
/// crash the numbers of transactions that left no trace are given again, so that a cursor from before is
/// refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    era: String,
    place: String,
}

/// The place of the transaction in the order of commits.
pub(super) fn stamp(session: &mut dyn Session) -> Result<i64, Stop> {
    let mut rows = session.query(&STAMP, &[])?;
    Ok(first(&mut rows)?.take(0)?)
}

/// The cursor behind all that this transaction sees, what it changed under its own stamp included.
pub(super) fn now(session: &mut dyn Session, own: Option<i64>) -> Result<Since, Stop> {
    let mut rows = session.query(NOW.statement(), &[])?;
    let row = first(&mut rows)?;
    let (era, place): (String, String) = (era(row)?, row.take(1)?);
    let seen = place.parse::<Seen>().map_err(|()| StoreError::Shape(format!("{place} is no place")))?;
    Ok(Since { era, place: seen.with(own).bounded().to_string() })
}

/// The cursor as a parameter, where it is one of this store's.
pub(super) fn place(session: &mut dyn Session, since: &Since) -> Result<Value, Stop> {
    let mut rows = session.query(HANDED_OUT.statement(), &[(&since.place).into()])?;
    let row = first(&mut rows)?;
    let (era, handed_out): (String, bool) = (era(row)?, row.take(1)?);
    if era == since.era && handed_out {
        return Ok((&since.place).into());
    }
    Err(Refusal::new(
        Code::Stale,
        "The store was restored or moved since, or its database crashed: what changed meanwhile is not known.",
    )
    .hint("Leave the cursor out, to begin anew.")
    .into())
}

fn first(rows: &mut [Row]) -> Result<&mut Row, Stop> {
    Ok(rows.first_mut().ok_or_else(|| StoreError::Shape("`changes` has no row".to_owned()))?)
}

/// The era of a row's first column, which PostgreSQL has none of where nobody has named its life.
fn era(row: &mut Row) -> Result<String, StoreError> {
    let unnamed = "`server_life` has no row: start RelayLink again, which names the life of the server anew";
    row.take::<Option<String>>(0)?.ok_or_else(|| StoreError::Shape(unnamed.to_owned()))
}

/// A place as both engines read it, which is a snapshot of PostgreSQL's.
struct Seen {
    /// The oldest transaction under way.
    oldest: i64,
    /// The next one: neither it nor what comes after it is seen.
    next: i64,
    /// Those under way between, which are not seen either.
    between: Vec<i64>,
}

impl Seen {
    /// What this transaction changes is seen, and nothing else that began meanwhile.
    fn with(mut self, own: Option<i64>) -> Self {
        if let Some(own) = own.filter(|own| *own >= self.next) {
            self.between.extend((self.next..own).take(UNDER_WAY_MAX + 1));
            self.next = own + 1;
        }
        self
    }

    /// Of too many under way, the later ones count as not begun: what is between them is shown again.
    fn bounded(mut self) -> Self {
        if let Some(&later) = self.between.get(UNDER_WAY_MAX) {
            self.between.truncate(UNDER_WAY_MAX);
            self.next = later;
        }
        self
    }
}

impl FromStr for Seen {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |text: &str| {
            let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<i64>().ok()).ok_or(())
        };
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next().ok_or(());
        let (oldest, next, between) = (number(part()?)?, number(part()?)?, part()?);
        let between = between.split(',').filter(|_| !between.is_empty());
        let between = between.map(number).collect::<Result<Vec<_>, _>>()?;
        let is_ordered = between.is_sorted_by(|one, other| one < other)
            && between.first().is_none_or(|first| *first >= oldest)
            && between.last().is_none_or(|last| *last < next);
        if oldest > 0 && oldest <= next && is_ordered { Ok(Self { oldest, next, between }) } else { Err(()) }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.oldest, self.next)?;
        for (at, number) in self.between.iter().enumerate() {
            write!(f, "{}{number}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.era, self.place)
    }
}

impl FromStr for Since {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = Some(text).filter(|text| text.len() <= SINCE_MAX).and_then(|text| text.split_once('.'));
        parts
            .filter(|(era, place)| {
                era.bytes().all(|byte| byte.is_ascii_hexdigit()) && place.parse::<Seen>().is_ok()
            })
            .map(|(era, place)| Self { era: era.to_owned(), place: place.to_owned() })
            .ok_or("expected the cursor of an answer before")
    }
}

impl Serialize for Since {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Since {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Since {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Since".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "The cursor of an answer before." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_engine_wrote_is_no_cursor() {
        for text in ["0a1b.17:17:", "0a1b.7:12:7,9,11", "ff.1:9223372036854775807:"] {
            assert_eq!(text.parse::<Since>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "0a1b",
            "0a1b.",
            "xyz.17",
            "0a1b.-1",
            "0a1b.0",
            "0a1b.1;",
            "0a1b.9223372036854775808",
            "0a1b.7:5:",
            "0a1b.7:12",
            "0a1b.7:12:6",
            "0a1b.7:12:12",
            "0a1b.7:12:9,9",
            "0a1b.7:12:9,",
            "0a1b.7:12:9:1",
            "0a1b. 7",
        ] {
            assert!(text.parse::<Since>().is_err(), "{text}");
        }
        assert!(format!("0a.1:9:{}", "1,".repeat(SINCE_MAX)).parse::<Since>().is_err());
    }

    fn seen(text: &str, own: Option<i64>) -> String {
        text.parse::<Seen>().unwrap().with(own).bounded().to_string()
    }

    #[test]
    fn what_a_transaction_changes_itself_is_seen_and_nothing_else_that_began_meanwhile() {
        assert_eq!(seen("7:12:7,9", None), "7:12:7,9");
        assert_eq!(seen("7:12:7,9", Some(14)), "7:15:7,9,12,13");
        assert_eq!(seen("12:12:", Some(12)), "12:13:");
        assert_eq!(seen("13:13:", Some(12)), "13:13:", "as SQLite counts it");
    }

    #[test]
    fn a_cursor_stays_short_whatever_is_under_way_and_passes_nothing_over() {
        let most = i64::try_from(UNDER_WAY_MAX).unwrap();
        let first = i64::MAX - 10_000;
        for (text, own) in [
            (format!("{first}:{first}:"), Some(first + 9_000)),
            (
                (first..first + 9_000)
                    .fold(format!("{first}:{}:", i64::MAX), |text, n| format!("{text}{n},")),
                None,
            ),
        ] {
            let cut = seen(text.trim_end_matches(','), own);
            assert!(cut.starts_with(&format!("{first}:{}:{first},", first + most)), "{cut}");
            assert!(cut.len() + 64 < SINCE_MAX && cut.parse::<Seen>().is_ok());
        }
    }
}
