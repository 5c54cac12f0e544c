//! Whether all is well with a store.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use super::{
    Derived, LIFE, Misfit, PLACES, Question, Rooms, Source, Table, Weight, Whole,
    compare::rows,
    copy::made,
    rooms::DAMAGED,
    shape::{GONE, shape},
};
use crate::{relay::Timestamp, store::StoreError};

/// Rows that a finding names at most: enough to look at, and no list of a store's content.
const NAMED: usize = 3;

/// What to do about an index that does not fit its rows.
pub(super) const MAKE_ANEW: &str = "Move the store to a new one, where the index is made anew.";

/// What to do where the order of commits is lost, which is a store's own.
const OWN_ORDER: &str = "Move the store to a new one, which begins an order of its own.";

/// What to do where a table is gone that each start makes.
const START_AGAIN: &str = "Start RelayLink again, which makes it.";

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub weight: Weight,
    /// What it is about: a table, or `store` for the whole.
    pub about: String,
    /// What was found, in a sentence.
    pub says: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The rows of each table, by name.
    pub tables: Vec<(String, u64)>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Health {
    /// Whether nothing is damaged. What is for a person to know may be there.
    pub fn is_well(&self) -> bool {
        self.findings.iter().all(|finding| finding.weight == Weight::Note)
    }

    pub(super) fn note(&mut self, about: &str, says: String, advice: &'static str) {
        self.findings.push(Finding { weight: Weight::Note, about: about.to_owned(), says, advice });
    }

    pub(super) fn fault(&mut self, about: &str, says: String, advice: &'static str) {
        self.findings.push(Finding { weight: Weight::Fault, about: about.to_owned(), says, advice });
    }
}

/// Looks for damage: what the engine finds, tables that are not as they were made, rows that point nowhere,
/// an index of text that is not made from its rows, mail that is stuck. Reads one moment of the store, and may
/// run beside servers.
pub fn check(store: &mut Source, rooms: &Rooms, now: Timestamp) -> Result<Health, StoreError> {
    let whole = &mut store.0;
    let mut health = Health::default();
    for says in whole.raw.damage()? {
        health.fault("store", says, DAMAGED);
    }
    if let Some(marker) = whole.marker()? {
        let says = format!("it is half filled: a move from {} was not finished", marker.source);
        health.fault("store", says, "Run the same move again, which goes on where it stopped.");
    }
    let compared = shape(whole, &mut health);
    told(whole, "store", compared, &mut health)?;
    if whole.lacks_life()? {
        health.fault(LIFE, GONE.to_owned(), START_AGAIN);
    }
    whole.raw.snapshot()?;
    let mut tables = whole.raw.tables()?;
    tables.retain(|table| whole.made.contains(&table.name));
    for table in &tables {
        let fit = kinds(whole, table, &mut health);
        told(whole, &table.name, fit, &mut health)?;
    }
    if tables.iter().any(|table| table.name == PLACES) {
        let counted = place(whole, &mut health);
        told(whole, PLACES, counted, &mut health)?;
    }
    for table in whole.there(rooms)? {
        let counted = rows(whole, &table.name).map(|rows| health.tables.push((table.name.clone(), rows)));
        told(whole, &table.name, counted, &mut health)?;
    }
    for question in &rooms.questions {
        let asked = ask(whole, question, now, &mut health);
        told(whole, question.about, asked, &mut health)?;
    }
    for index in &rooms.derived {
        let compared = in_step(whole, index, &mut health);
        told(whole, index.table, compared, &mut health)?;
    }
    whole.raw.release()?;
    Ok(health)
}

/// Makes a finding of what could not be read, and goes on; not where the store is away.
fn told(
    whole: &mut Whole,
    about: &str,
    result: Result<(), StoreError>,
    health: &mut Health,
) -> Result<(), StoreError> {
    match result {
        Err(error @ (StoreError::Engine(_) | StoreError::Shape(_) | StoreError::Unusable(_))) => {
            health.fault(about, format!("it cannot be read: {error}"), DAMAGED);
            // What failed may have ended the snapshot.
            whole.raw.snapshot()
        }
        result => result,
    }
}

/// Rows of which something is said: how many, and the first of them.
#[derive(Default)]
struct Rows {
    count: u64,
    named: Vec<String>,
}

impl Rows {
    fn add(&mut self, name: impl std::fmt::Display) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(format!("{name}"));
        }
    }

    /// A sentence; none where there are none.
    fn say(&self, says: &str) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let more = if self.count > NAMED as u64 { ", …" } else { "" };
        Some(format!("{} {says}: {}{more}", self.count, self.named.join(", ")))
    }
}

/// Looks for values that are not of their column's kind.
fn kinds(whole: &mut Whole, table: &Table, health: &mut Health) -> Result<(), StoreError> {
    let mut found: BTreeMap<(String, &str), Rows> = BTreeMap::new();
    whole.raw.misfits(table, &mut |Misfit { column, says, key }| {
        found.entry((column.to_owned(), says)).or_default().add(key);
    })?;
    for ((column, says), rows) in found {
        if let Some(says) = rows.say(&format!("values of {column} {says}, in the rows")) {
            health.fault(&table.name, says, DAMAGED);
        }
    }
    Ok(())
}

/// Looks whether the order of commits has its one row.
fn place(whole: &mut Whole, health: &mut Health) -> Result<(), StoreError> {
    let rows = rows(whole, PLACES)?;
    if rows != 1 {
        let says = format!("it holds {rows} rows, and one is needed: no server can work with the store");
        health.fault(PLACES, says, OWN_ORDER);
    }
    Ok(())
}

fn ask(
    whole: &mut Whole,
    question: &Question,
    now: Timestamp,
    health: &mut Health,
) -> Result<(), StoreError> {
    let moment = question.ago.map(|ago| now.plus_millis(-ago).into());
    let mut found = Rows::default();
    let sql = question.statement.text(whole.raw.dialect());
    whole.raw.scan(sql, moment.as_slice(), &mut |mut row| {
        found.add(row.take::<String>(0)?);
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(says) = found.say(question.says) {
        let Question { weight, about, advice, .. } = *question;
        health.findings.push(Finding { weight, about: about.to_owned(), says, advice });
    }
    Ok(())
}

/// Compares an index of text with what it should be, some rows at a time.
fn in_step(whole: &mut Whole, index: &Derived, health: &mut Health) -> Result<(), StoreError> {
    let entries = whole.raw.entries(index.table)?;
    let (mut missing, mut surplus, mut other) = (Rows::default(), Rows::default(), Rows::default());
    let mut after = i64::MIN;
    loop {
        let due = made(whole, index, after)?;
        let upto = due.last().map_or(i64::MAX, |(number, _)| *number);
        let mut found: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        whole.raw.scan(&entries, &[after.into(), upto.into()], &mut |mut row| {
            let terms = found.entry(row.take(0)?).or_default();
            terms.extend(row.take::<Option<String>>(1)?);
            Ok(ControlFlow::Continue(()))
        })?;
        let last = due.is_empty();
        for (number, terms) in due {
            match found.remove(&number) {
                None => missing.add(number),
                Some(found) => {
                    let due = terms.split(' ').filter(|term| !term.is_empty());
                    if !due.eq(found.iter().map(String::as_str)) {
                        other.add(number);
                    }
                }
            }
        }
        for number in found.into_keys() {
            surplus.add(number);
        }
        if last {
            break;
        }
        after = upto;
    }
    let of = index.of;
    for (rows, says) in [
        (missing, format!("rows of {of} cannot be found by their words, by number")),
        (surplus, format!("entries are of no row of {of}, by number")),
        (other, format!("rows of {of} are found by other words than theirs, by number")),
    ] {
        if let Some(says) = rows.say(&says) {
            health.fault(index.table, says, MAKE_ANEW);
        }
    }
    Ok(())
}
