use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

type Columns = BTreeMap<String, Json>;

/// A whole state: rows by table and key, and how often each effect has reached out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    rows: BTreeMap<(String, String), Columns>,
    reached: BTreeMap<String, u64>,
}

/// What one call did to a [`State`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Keys that are new, with their table.
    pub added: Vec<(String, String)>,
    /// Keys that are gone, with their table.
    pub removed: Vec<(String, String)>,
    /// Columns that differ.
    pub changed: Vec<Changed>,
    /// How often each effect reached out, by the effect's name.
    pub reached: BTreeMap<String, u64>,
}

/// A column of a row that stayed, and what was in it before.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The table.
    pub table: String,
    /// The row's key.
    pub key: String,
    /// The column.
    pub column: String,
    /// What was there.
    pub was: Json,
}

impl State {
    /// Takes in a row.
    pub fn row<C: Into<String>>(
        &mut self,
        table: impl Into<String>,
        key: impl Into<String>,
        columns: impl IntoIterator<Item = (C, Json)>,
    ) {
        let columns = columns.into_iter().map(|(name, value)| (name.into(), value)).collect();
        self.rows.insert((table.into(), key.into()), columns);
    }

    /// Takes in that the effect of this name has reached out so many times so far: letters queued,
    /// calls made to somebody else's service, changes others will see.
    pub fn reached(&mut self, effect: impl Into<String>, times: u64) {
        *self.reached.entry(effect.into()).or_default() += times;
    }

    /// What leads from this state to that one.
    pub fn changes_to(&self, after: &Self) -> Changes {
        let mut changes = Changes::default();
        for (place, columns) in &self.rows {
            let Some(now) = after.rows.get(place) else {
                changes.removed.push(place.clone());
                continue;
            };
            let names: BTreeSet<_> = columns.keys().chain(now.keys()).collect();
            for name in names {
                let was = columns.get(name).unwrap_or(&Json::Null);
                if was != now.get(name).unwrap_or(&Json::Null) {
                    changes.changed.push(Changed {
                        table: place.0.clone(),
                        key: place.1.clone(),
                        column: name.clone(),
                        was: was.clone(),
                    });
                }
            }
        }
        changes.added = after.rows.keys().filter(|place| !self.rows.contains_key(*place)).cloned().collect();
        for (effect, times) in &after.reached {
            let more = times.saturating_sub(self.reached.get(effect).copied().unwrap_or(0));
            if more > 0 {
                changes.reached.insert(effect.clone(), more);
            }
        }
        changes
    }

    /// Whether a text stands in some column of some row. A number that does so proves nothing.
    pub(super) fn holds(&self, value: &Json) -> bool {
        value.is_string() && self.rows.values().any(|columns| columns.values().any(|column| column == value))
    }
}

impl Changes {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.rows_stand_still() && self.reached.is_empty()
    }

    /// Whether no row came, went or differs.
    pub fn rows_stand_still(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl std::fmt::Display for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        let mut parts = Vec::new();
        parts.extend(self.added.iter().map(|(table, key)| format!("added {table}[{key}]")));
        parts.extend(self.removed.iter().map(|(table, key)| format!("removed {table}[{key}]")));
        parts.extend(self.changed.iter().map(|c| format!("changed {}[{}].{}", c.table, c.key, c.column)));
        parts.extend(self.reached.iter().map(|(effect, times)| format!("{effect} × {times}")));
        f.write_str(&parts.join(", "))
    }
}
