//! A call that failed has left nothing, and one whose answer is lost says so. For every case the
//! store fails at the first call of its session, at the second, and so on until none is left; then
//! in its commit; then after it. And a caller that is gone leaves all or nothing.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use relaylink_core::{
    store::{Access, Request, Store, Verdict},
    tool::{Code, Refusal, audit::State},
};
use serde_json::Value as Json;

use crate::{
    cases::{Case, Scene, each},
    faulty::{ENGINE, Fault, Faulty},
    town::{Frozen, Town},
    world::answered,
};

/// A town whose store fails when it is told to, as often as wanted from the same start.
struct Trial {
    case: &'static Case,
    frozen: Frozen,
    scene: Scene,
    town: Town,
    store: Arc<Faulty>,
    before: State,
    /// What the call answers and leaves when nothing goes wrong.
    answer: Json,
    after: State,
}

impl Trial {
    async fn of(case: &'static Case) -> Self {
        let (frozen, scene) = case.ready().await.clone();
        let (town, store) = over(&frozen);
        let before = town.rows();
        let answer = call(&town, case, &scene).await.unwrap_or_else(|refusal| panic!("{case}: {refusal}"));
        let after = town.rows();
        let mut trial = Self { case, frozen, scene, town, store, before, answer, after };
        trial.anew();
        trial
    }

    /// A fresh town, nothing called.
    fn anew(&mut self) {
        (self.town, self.store) = over(&self.frozen);
    }

    /// The call from the same clock and the same dice as ever, while this goes wrong.
    async fn call(&self, fault: Fault) -> Result<Json, Refusal> {
        self.store.set(fault);
        self.town.rewind(&self.frozen);
        let answer = call(&self.town, self.case, &self.scene).await;
        assert!(!self.store.swallowed(), "{}: {fault:?} was passed over", self.case);
        answer
    }

    #[track_caller]
    fn stands_at(&self, state: &State, fault: impl std::fmt::Debug) {
        let changes = state.changes_to(&self.town.rows());
        assert!(changes.is_empty(), "{}, {fault:?}: left {changes}", self.case);
    }

    /// A failure that left nothing, and says so in words of ours.
    #[track_caller]
    fn failed(&self, answer: Result<Json, Refusal>, fault: Fault) {
        let refusal = answer.expect_err("it failed");
        assert_eq!(refusal.code, Code::Unavailable, "{}, {fault:?}: {refusal:?}", self.case);
        assert!(refusal.message.contains("nothing was stored"), "{}, {fault:?}: {refusal:?}", self.case);
        let text = format!("{refusal:?}");
        assert!(!text.contains(ENGINE) && !text.contains("panic"), "{}, {fault:?}: {text}", self.case);
        self.stands_at(&self.before, fault);
    }

    /// All went as when nothing goes wrong.
    #[track_caller]
    fn done(&self, answer: &Result<Json, Refusal>, fault: Fault) {
        assert_eq!(answer.as_ref(), Ok(&self.answer), "{}, {fault:?}", self.case);
        self.stands_at(&self.after, fault);
    }
}

fn over(frozen: &Frozen) -> (Town, Arc<Faulty>) {
    let mut store = None;
    let town = frozen.thaw_over(|inner| Arc::clone(store.insert(Faulty::over(inner))) as Arc<dyn Store>);
    (town, store.unwrap())
}

async fn call(town: &Town, case: &Case, scene: &Scene) -> Result<Json, Refusal> {
    answered(town.relay.call(&scene.caller, case.tool, scene.arguments.clone()).await)
}

async fn fail(case: &'static Case) {
    let mut trial = Trial::of(case).await;
    for kind in [Fault::Fails, Fault::FailsOnce, Fault::Panics] {
        // The same town all along: each failure leaves it as it was.
        for n in 1.. {
            let fault = kind(n);
            let answer = trial.call(fault).await;
            if trial.store.calls() < n {
                assert!(n > 1, "{case}: asks the store nothing");
                trial.done(&answer, fault);
                break;
            }
            trial.failed(answer, fault);
        }
        trial.anew();
    }
    for fault in [Fault::Busy, Fault::Commit] {
        let answer = trial.call(fault).await;
        match fault {
            Fault::Busy => {
                let refusal = answer.expect_err("it did not begin");
                assert_eq!(refusal.code, Code::Unavailable, "{case}: {refusal:?}");
                trial.stands_at(&trial.before, fault);
            }
            _ => trial.failed(answer, fault),
        }
    }
    let answer = trial.call(Fault::Twice).await;
    trial.done(&answer, Fault::Twice);
    trial.anew();
    let refusal = trial.call(Fault::Lost).await.expect_err("the answer is lost");
    assert_eq!(refusal.code, Code::Unavailable, "{case}: {refusal:?}");
    assert_eq!(refusal.hint.as_deref(), Some("Look before you repeat."), "{case}: {refusal:?}");
    assert!(!refusal.message.contains("nothing was stored"), "{case}: {refusal:?}");
    trial.stands_at(&trial.after, Fault::Lost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_failed_left_nothing_and_a_lost_answer_is_told() {
    each(fail).await;
}

/// Polls the future until it has waited for the n-th time and lets it go; what it gave if it came to that.
async fn dropped_at<T>(n: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut waited = 0;
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => {
            waited += 1;
            if waited == n { Poll::Ready(None) } else { Poll::Pending }
        }
    })
    .await
}

async fn drop_everywhere(case: &'static Case) {
    let mut trial = Trial::of(case).await;
    for n in 1.. {
        trial.town.rewind(&trial.frozen);
        let answer = dropped_at(n, call(&trial.town, case, &trial.scene)).await;
        // What the account queued before this is done when this is.
        let settle = Request::new(Access::ALL, Arc::clone(&trial.scene.caller.account));
        trial.town.store.transact(settle, Box::new(|_| Verdict::Rollback)).await.unwrap();
        if let Some(answer) = answer {
            assert!(n > 2, "{case}: is nowhere to be dropped");
            trial.done(&answer, Fault::None);
            break;
        }
        let now = trial.town.rows();
        let all = trial.after.changes_to(&now).is_empty();
        if !all {
            trial.stands_at(&trial.before, ("dropped", n));
        }
        trial.anew();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_is_gone_leaves_all_or_nothing() {
    each(drop_everywhere).await;
}
