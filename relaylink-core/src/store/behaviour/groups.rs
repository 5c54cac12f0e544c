//! Many works at once: each as if it were alone.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use futures_util::future::join_all;

use super::probe::{ALL, INSERT, LATE, READ, UPDATE, WRITES, all, equal, first, rows_are, run, start_with};
use crate::store::{Access, Session, Store, StoreError, Value, Verdict};

/// Works at once.
const WORKS: i64 = 60;

/// Every fifth work is to fail.
fn spoils(at: i64) -> bool {
    at % 5 == 2
}

fn id(at: i64) -> String {
    format!("{at:02}")
}

fn insert(session: &mut dyn Session, id: &str, n: i64) -> Result<(), StoreError> {
    session.execute(INSERT.statement(), &[Value::from(id), Value::from(n)]).map(|_| ())
}

/// The works that spoil nothing have landed and nothing else has.
async fn the_others_landed(store: &dyn Store) -> Result<(), String> {
    let due: Vec<_> = (0..WORKS).filter(|at| !spoils(*at)).map(|at| (id(at), at)).collect();
    equal("the rows", &all(store).await?, &due)
}

pub(super) async fn increments_serialise(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("n", 0)]).await?;
    let each = (0..100).map(|_| {
        run(store, WRITES, |session| {
            let n: i64 = first(session.query(READ.statement(), &[Value::from("n")])?)?.unwrap_or(0);
            session.execute(UPDATE.statement(), &[Value::from("n"), Value::from(n + 1)])?;
            Ok(Verdict::Commit)
        })
    });
    let mut landed = 0;
    for ended in join_all(each).await {
        match ended {
            Ok(Verdict::Commit) => landed += 1,
            Err(StoreError::Busy(_)) => {}
            other => return Err(format!("an increment ended with {other:?}")),
        }
    }
    if landed == 0 {
        return Err("no increment landed".to_owned());
    }
    rows_are(store, &[("n", landed)]).await
}

pub(super) async fn spoilers_spoil_only_themselves(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    start_with(store, &[]).await?;
    let each = (0..WORKS).map(|at| {
        run(store, WRITES, move |session| {
            insert(session, &id(at), at)?;
            match at % 10 {
                // One changes its mind, one breaks a constraint.
                2 => return Ok(Verdict::Rollback),
                7 => insert(session, &id(at), at)?,
                _ => {}
            }
            Ok(Verdict::Commit)
        })
    });
    for (at, ended) in (0..WORKS).zip(join_all(each).await) {
        let as_due = match at % 10 {
            2 => ended == Ok(Verdict::Rollback),
            7 => matches!(ended, Err(StoreError::Constraint(_))),
            _ => ended == Ok(Verdict::Commit),
        };
        if !as_due {
            return Err(format!("work {at} ended with {ended:?}"));
        }
    }
    the_others_landed(store).await
}

pub(super) async fn a_work_that_runs_again_sees_a_fresh_state(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[]).await?;
    let stale = Arc::new(AtomicI64::new(0));
    let each = (0..WORKS).map(|at| {
        let stale = Arc::clone(&stale);
        run(store, WRITES, move |session| {
            // What an earlier run of this work wrote must be gone.
            if !session.query(READ.statement(), &[Value::from(id(at))])?.is_empty() {
                stale.fetch_add(1, Relaxed);
            }
            insert(session, &id(at), at)?;
            Ok(if spoils(at) { Verdict::Rollback } else { Verdict::Commit })
        })
    });
    for (at, ended) in (0..WORKS).zip(join_all(each).await) {
        let due = if spoils(at) { Verdict::Rollback } else { Verdict::Commit };
        equal(&format!("work {at}"), &ended, &Ok(due))?;
    }
    equal("runs that saw their own earlier rows", &stale.load(Relaxed), &0)?;
    the_others_landed(store).await
}

pub(super) async fn panics_end_only_their_own_work(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[]).await?;
    let each = (0..WORKS).map(|at| {
        run(store, WRITES, move |session| {
            insert(session, &id(at), at)?;
            assert!(!spoils(at), "a panic on purpose");
            Ok(Verdict::Commit)
        })
    });
    for (at, ended) in (0..WORKS).zip(join_all(each).await) {
        let due = if spoils(at) { Err(StoreError::Panicked) } else { Ok(Verdict::Commit) };
        equal(&format!("work {at}"), &ended, &due)?;
    }
    the_others_landed(store).await
}

pub(super) async fn a_panic_in_a_read_is_told(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    for _ in 0..20 {
        let ended = run(store, Access::READ, |session| {
            session.query(ALL.statement(), &[])?;
            panic!("a panic on purpose");
        })
        .await;
        equal("a read that panics", &ended, &Err(StoreError::Panicked))?;
    }
    rows_are(store, &[("there", 1)]).await
}

pub(super) async fn a_failed_commit_fails_only_its_own_work(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[]).await?;
    let each = (0..WORKS).map(|at| {
        run(store, WRITES, move |session| {
            insert(session, &id(at), at)?;
            let named = if spoils(at) { "nobody".to_owned() } else { id(at) };
            session.execute(LATE.statement(), &[Value::from(id(at)), Value::from(named)])?;
            Ok(Verdict::Commit)
        })
    });
    for (at, ended) in (0..WORKS).zip(join_all(each).await) {
        let as_due = if spoils(at) {
            matches!(ended, Err(StoreError::Constraint(_)))
        } else {
            ended == Ok(Verdict::Commit)
        };
        if !as_due {
            return Err(format!("work {at} ended with {ended:?}"));
        }
    }
    the_others_landed(store).await
}
