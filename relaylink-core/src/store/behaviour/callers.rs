//! Callers that stop waiting.

use futures_util::{FutureExt, future::join_all};

use super::probe::{INSERT, WRITES, all, equal, execute, rows_are, run, start_with};
use crate::store::{Store, Value, Verdict};

/// Works whose callers go.
const WORKS: i64 = 200;

pub(super) async fn a_caller_that_is_gone_leaves_all_or_nothing(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[]).await?;
    let each = (0..WORKS).map(|at| async move {
        let work = run(store, WRITES, move |session| {
            for part in ["a", "b"] {
                let id = Value::Text(format!("{at:03}{part}"));
                session.execute(INSERT.statement(), &[id, Value::from(at)])?;
            }
            Ok(Verdict::Commit)
        });
        if at % 4 == 0 {
            return Some(work.await);
        }
        // Polled once, and dropped while the store may be at it.
        work.now_or_never()
    });
    let answers = join_all(each).await;
    // Whatever is still under way is behind this one, or is all there in a later look.
    let fence = execute(store, WRITES, INSERT.statement(), vec![Value::from("fence"), Value::from(0)]).await;
    equal("the work after them", &fence, &Ok(Verdict::Commit))?;
    let rows = all(store).await?;
    for (at, answer) in (0..WORKS).zip(answers) {
        let parts = rows.iter().filter(|(id, n)| *n == at && id.starts_with(&format!("{at:03}"))).count();
        match answer {
            Some(answer) => {
                equal(&format!("work {at}"), &answer, &Ok(Verdict::Commit))?;
                equal(&format!("the rows of work {at}"), &parts, &2)?;
            }
            None if parts == 1 => return Err(format!("half of work {at} is there")),
            None => {}
        }
    }
    Ok(())
}

pub(super) async fn a_future_never_polled_does_nothing(store: &dyn Store) -> Result<(), String> {
    start_with(store, &[("there", 1)]).await?;
    drop(execute(store, WRITES, INSERT.statement(), vec![Value::from("new"), Value::from(2)]));
    rows_are(store, &[("there", 1)]).await
}
