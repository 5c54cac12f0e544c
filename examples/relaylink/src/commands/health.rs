//! Whether a server works, told to whoever asks over HTTP, without a key.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use relaylink_core::relay::Relay;
use tokio::{sync::Mutex, time::timeout};
use tokio_util::sync::CancellationToken;

/// How long the store may take to answer a read before others should take the calls. Balancers ask every
/// few seconds and wait for about one.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone)]
struct Watched {
    relay: Relay,
    ending: CancellationToken,
    /// Held while the store is asked: who asks without a key occupies one of its places at most.
    asking: Arc<Mutex<()>>,
}

/// `/healthz`: the process answers. `/readyz`: so does its store, and it is not about to end.
pub(super) fn routes(relay: Relay, ending: CancellationToken) -> Router {
    let watched = Watched { relay, ending, asking: Arc::default() };
    Router::new()
        .route("/healthz", get(|| async { said(StatusCode::OK, "ok") }))
        .route("/readyz", get(ready))
        .with_state(watched)
}

async fn ready(State(watched): State<Watched>) -> impl IntoResponse {
    let not = |why| said(StatusCode::SERVICE_UNAVAILABLE, why);
    if watched.ending.is_cancelled() {
        return not("The server is about to end.");
    }
    let asked = timeout(PATIENCE, async {
        let _one = watched.asking.lock().await;
        watched.relay.ready().await
    });
    match asked.await {
        Ok(Ok(())) => said(StatusCode::OK, "ok"),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: the store cannot be read");
            not("The store cannot be read.")
        }
        Err(_) => {
            tracing::warn!("not ready: the store does not answer");
            not("The store does not answer.")
        }
    }
}

fn said(status: StatusCode, what: &'static str) -> impl IntoResponse {
    (status, [(header::CACHE_CONTROL, "no-store")], what)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use axum::response::Response;
    use relaylink_core::store::{Request, Store, StoreError, Verdict, Work};

    use super::*;

    /// A store that is away: at once it says so, or it says nothing.
    struct Away {
        silent: bool,
    }

    #[async_trait]
    impl Store for Away {
        async fn transact(&self, _: Request, _: Work) -> Result<Verdict, StoreError> {
            if self.silent {
                std::future::pending::<()>().await;
            }
            Err(StoreError::Engine("SELECT failed".to_owned()))
        }
    }

    async fn told(store: Away) -> (StatusCode, String) {
        let relay = Relay::new(Arc::new(store)).unwrap();
        let watched = Watched { relay, ending: CancellationToken::new(), asking: Arc::default() };
        let answer: Response = ready(State(watched)).await.into_response();
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), 1_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_store_that_fails_or_is_silent_is_not_ready_within_two_seconds() {
        let within = Duration::from_secs(2);
        for (silent, why) in [(false, "The store cannot be read."), (true, "The store does not answer.")] {
            let told = timeout(within, told(Away { silent })).await.expect("an answer");
            assert_eq!(told, (StatusCode::SERVICE_UNAVAILABLE, why.to_owned()));
        }
    }
}
