//! The public suite over the embedded engine.

use std::sync::Arc;

use relaylink_core::store::{
    behaviour::{CASES, Case, LATE_KEY, OWNER, TABLES, verify},
    sqlite::{Options, Sqlite},
};

use crate::rows;

fn store(folder: &tempfile::TempDir, options: Options) -> Arc<Sqlite> {
    let path = folder.path().join("data.db");
    let store = Sqlite::open_with(&path, options.migrations(OWNER, TABLES)).unwrap();
    rows::raw(&path).execute_batch(LATE_KEY).unwrap();
    Arc::new(store)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_holds_every_case() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, Options::default());
    for case in CASES {
        case.check(Arc::clone(&store) as _).await.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[tokio::test]
async fn sqlite_holds_every_case_on_the_threads_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    verify(store(&folder, Options::default().inline(0).readers(1))).await.unwrap();
}

#[test]
fn sqlite_needs_no_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, Options::default().inline(1).readers(1));
    block_on(verify(store)).unwrap();
}

/// Runs a future on this thread, with no runtime.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::park();
    }
}

#[test]
fn names_are_distinct() {
    let mut names: Vec<_> = CASES.iter().map(Case::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CASES.len());
}
