//! One transaction, one session.

use futures_util::future::join_all;

use super::probe::{
    ALL, INSERT, READ, Slot, UPDATE, WRITES, equal, execute, first, query, rows_are, run, start_with,
};
use crate::store::{Access, Select, Store, StoreError, Value, Verdict, Write};

pub(super) async fn a_commit_stays_and_a_rollback_leaves_nothing(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("old", 1)]).await?;
    for (id, verdict) in [("kept", Verdict::Commit), ("undone", Verdict::Rollback)] {
        let ended = run(store, WRITES, move |session| {
            session.execute(INSERT.statement(), &[Value::from(id), Value::from(2)])?;
            session.execute(UPDATE.statement(), &[Value::from("old"), Value::from(3)])?;
            let seen = first::<i64>(session.query(READ.statement(), &[Value::from("old")])?)?;
            // A transaction sees what it has written.
            Ok(if seen == Some(3) { verdict } else { Verdict::Rollback })
        })
        .await;
        equal(id, &ended, &Ok(verdict))?;
    }
    rows_are(store, &[("kept", 2), ("old", 3)]).await
}

pub(super) async fn values_come_back_as_they_went_in(store: &dyn Store) -> Result<(), String> {
    static PUT: Write = Write::new("INSERT INTO behaviour_values (id, t, n, b) VALUES (?1, ?2, ?3, ?4)");
    static GET: Select = Select::new("SELECT t, n, b FROM behaviour_values WHERE id = ?1");
    start_with(store, &[]).await?;
    let rows = [
        [Value::Null, Value::Null, Value::Null],
        [Value::from(""), Value::from(0), Value::Bytes(vec![])],
        [Value::from("'; --"), Value::from(i64::MAX), Value::Bytes(vec![0, 255, 1])],
        [Value::from("Ärger 会議 🎉 %_\\"), Value::from(i64::MIN), Value::Bytes(vec![b'x'; 300_000])],
    ];
    for (at, row) in rows.into_iter().enumerate() {
        let id = Value::Text(at.to_string());
        let parameters = [vec![id.clone()], row.to_vec()].concat();
        let put = execute(store, WRITES, PUT.statement(), parameters).await;
        equal("storing", &put, &Ok(Verdict::Commit))?;
        let found = query(store, Access::READ, GET.statement(), vec![id]).await.map_err(|e| e.to_string())?;
        if found.len() != 1 || found[0].columns() != row {
            return Err(format!("row {at} came back otherwise: {:.200}", format!("{found:?}")));
        }
    }
    Ok(())
}

pub(super) async fn an_error_poisons_the_session(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    for access in [WRITES, Access::ALL] {
        let slot = Slot::default();
        let filled = slot.clone();
        let ended = run(store, access, move |session| {
            session.execute(INSERT.statement(), &[Value::from("before"), Value::from(1)])?;
            let broken = session.execute(INSERT.statement(), &[Value::from("there"), Value::from(2)]);
            let write = session.execute(INSERT.statement(), &[Value::from("after"), Value::from(1)]);
            let read = session.query(ALL.statement(), &[]).map(|_| 0);
            let restrict = session.restrict(Access::READ).map(|_| 0);
            filled.put([broken, write, read, restrict]);
            // The tool has swallowed the error.
            Ok(Verdict::Commit)
        })
        .await;
        let Err(error @ StoreError::Constraint(_)) = ended else {
            return Err(format!("the work ended with {ended:?}, where its first error was due"));
        };
        let told = slot.take().ok_or("the work did not run")?;
        equal("each later call", &told, &std::array::from_fn(|_| Err(error.clone())))?;
        rows_are(store, &[("there", 1)]).await?;
    }
    Ok(())
}

pub(super) async fn a_wrong_number_of_parameters_is_an_error(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    for parameters in [vec![], vec![Value::from("x")], vec![Value::from("x"), Value::from(1), Value::from(2)]]
    {
        let count = parameters.len();
        let ended = execute(store, WRITES, INSERT.statement(), parameters).await;
        if !matches!(ended, Err(StoreError::Engine(_))) {
            return Err(format!("{count} parameters for two: {ended:?}"));
        }
    }
    rows_are(store, &[("there", 1)]).await
}

pub(super) async fn a_read_sees_one_moment(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("a", 1_000), ("b", 0)]).await?;
    let moves = async {
        for left in (0..100).rev() {
            run(store, WRITES, move |session| {
                session.execute(UPDATE.statement(), &[Value::from("a"), Value::from(left * 10)])?;
                session.execute(UPDATE.statement(), &[Value::from("b"), Value::from(1_000 - left * 10)])?;
                Ok(Verdict::Commit)
            })
            .await
            .map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(())
    };
    let looks = async {
        for _ in 0..100 {
            let slot = Slot::default();
            let filled = slot.clone();
            run(store, Access::READ, move |session| {
                let mut sum = 0;
                for id in ["a", "b"] {
                    sum += first::<i64>(session.query(READ.statement(), &[Value::from(id)])?)?.unwrap_or(0);
                    std::thread::yield_now();
                }
                filled.put(sum);
                Ok(Verdict::Commit)
            })
            .await
            .map_err(|error| error.to_string())?;
            equal("the sum of two rows that change together", &slot.take(), &Some(1_000))?;
        }
        Ok::<_, String>(())
    };
    let (moves, looks) = futures_util::future::join(moves, looks).await;
    moves.and(looks)
}

pub(super) async fn what_was_answered_is_seen_by_the_next(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[]).await?;
    let each = (0..40).map(|at| async move {
        let id = format!("{at:02}");
        let put = execute(store, WRITES, INSERT.statement(), vec![Value::from(&id), Value::from(at)]).await;
        equal("storing", &put, &Ok(Verdict::Commit))?;
        let found = query(store, Access::READ, READ.statement(), vec![Value::from(&id)]).await;
        equal("reading what was stored", &found.and_then(first::<i64>), &Ok(Some(i64::from(at))))
    });
    join_all(each).await.into_iter().collect()
}
