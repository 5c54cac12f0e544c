//! What a transaction may do is enforced by the store, whatever the statement's type says.

use super::probe::{
    DELETE, DELETE_RETURNING, INSERT, INSERT_RETURNING, MAIL, MAILS, REMOVES, UPDATE, WRITES,
    WRITES_AND_REMOVES, denied, equal, execute, first, query, rows_are, run, start_with,
};
use crate::store::{Access, Statement, Store, Value, Verdict};

/// Each changing statement, with what it takes.
fn verbs() -> [(&'static str, &'static Statement, Access, Vec<Value>); 4] {
    let row = || vec![Value::from("new"), Value::from(2)];
    [
        ("INSERT", INSERT.statement(), WRITES, row()),
        ("UPDATE", UPDATE.statement(), WRITES, vec![Value::from("there"), Value::from(1)]),
        ("DELETE", DELETE.statement(), REMOVES, vec![Value::from("there")]),
        ("an INSERT into the outbox", MAIL.statement(), MAILS, vec![Value::from("m")]),
    ]
}

pub(super) async fn each_verb_needs_its_access(store: &dyn Store) -> Result<(), String> {
    for (verb, statement, needed, parameters) in verbs() {
        for access in [Access::READ, WRITES, REMOVES, MAILS, WRITES_AND_REMOVES] {
            if covers(access, needed) {
                continue;
            }
            start_with(store, &[("there", 1)]).await?;
            let ended = execute(store, access, statement, parameters.clone()).await;
            denied(&format!("{verb} with {access:?}"), &ended)?;
            rows_are(store, &[("there", 1)]).await?;
        }
        start_with(store, &[("there", 1)]).await?;
        let ended = run(store, needed, move |session| {
            session.execute(statement, &parameters)?;
            Ok(Verdict::Rollback)
        })
        .await;
        equal(&format!("{verb} with {needed:?}"), &ended, &Ok(Verdict::Rollback))?;
    }
    Ok(())
}

fn covers(access: Access, needed: Access) -> bool {
    (access.writes || !needed.writes)
        && (access.removes || !needed.removes)
        && (access.mails || !needed.mails)
}

pub(super) async fn returning_is_held_to_the_access_too(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    let insert = || vec![Value::from("new"), Value::from(2)];
    for access in [Access::READ, REMOVES, MAILS] {
        let rows = query(store, access, INSERT_RETURNING.statement(), insert()).await;
        denied(&format!("INSERT … RETURNING with {access:?}"), &rows.map(|_| Verdict::Commit))?;
    }
    for access in [Access::READ, WRITES, MAILS] {
        let rows = query(store, access, DELETE_RETURNING.statement(), vec![Value::from("there")]).await;
        denied(&format!("DELETE … RETURNING with {access:?}"), &rows.map(|_| Verdict::Commit))?;
    }
    rows_are(store, &[("there", 1)]).await?;
    let rows = query(store, REMOVES, DELETE_RETURNING.statement(), vec![Value::from("there")]).await;
    equal("DELETE … RETURNING with removes", &rows.and_then(first::<i64>), &Ok(Some(1)))?;
    rows_are(store, &[]).await
}

pub(super) async fn a_text_run_by_another_access_is_still_refused(store: &dyn Store) -> Result<(), String> {
    for (verb, statement, needed, parameters) in verbs() {
        // Often enough that every connection of a pool has seen the text.
        for _ in 0..20 {
            start_with(store, &[("there", 1)]).await?;
            let (p, q) = (parameters.clone(), parameters.clone());
            let allowed = run(store, needed, move |session| {
                session.execute(statement, &p)?;
                Ok(Verdict::Rollback)
            });
            equal(verb, &allowed.await, &Ok(Verdict::Rollback))?;
            let access = if needed == WRITES { REMOVES } else { WRITES };
            denied(
                &format!("{verb} again, without its access"),
                &execute(store, access, statement, q).await,
            )?;
        }
        denied(verb, &execute(store, Access::READ, statement, parameters).await)?;
        rows_are(store, &[("there", 1)]).await?;
    }
    Ok(())
}

pub(super) async fn a_refused_statement_undoes_the_whole(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    let ended = run(store, WRITES, |session| {
        session.execute(INSERT.statement(), &[Value::from("new"), Value::from(2)])?;
        let _ = session.execute(DELETE.statement(), &[Value::from("there")]);
        Ok(Verdict::Commit)
    })
    .await;
    denied("a work that swallowed its denial", &ended)?;
    rows_are(store, &[("there", 1)]).await
}

pub(super) async fn restrict_narrows_and_gives_back(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    let ended = run(store, WRITES_AND_REMOVES, |session| {
        let before = session.restrict(WRITES)?;
        session.execute(INSERT.statement(), &[Value::from("inner"), Value::from(2)])?;
        session.restrict(before)?;
        session.execute(DELETE.statement(), &[Value::from("there")])?;
        Ok(if before == WRITES_AND_REMOVES { Verdict::Commit } else { Verdict::Rollback })
    })
    .await;
    equal("what held before was given back", &ended, &Ok(Verdict::Commit))?;
    rows_are(store, &[("inner", 2)]).await?;
    for narrow in [Access::READ, WRITES] {
        let ended = run(store, WRITES_AND_REMOVES, move |session| {
            session.restrict(narrow)?;
            session.execute(DELETE.statement(), &[Value::from("inner")])?;
            Ok(Verdict::Commit)
        })
        .await;
        denied(&format!("DELETE while held to {narrow:?}"), &ended)?;
    }
    rows_are(store, &[("inner", 2)]).await
}

pub(super) async fn restrict_never_widens(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    for (verb, statement, needs, parameters) in verbs() {
        for access in [Access::READ, WRITES, REMOVES, MAILS].into_iter().filter(|access| *access != needs) {
            let parameters = parameters.clone();
            let ended = run(store, access, move |session| {
                session.restrict(Access::ALL)?;
                session.execute(statement, &parameters)?;
                Ok(Verdict::Commit)
            })
            .await;
            denied(&format!("{verb} with {access:?} widened"), &ended)?;
        }
    }
    rows_are(store, &[("there", 1)]).await
}
