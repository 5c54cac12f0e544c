use std::sync::Arc;

use relaylink_core::{
    mail::Post,
    relay::Relay,
    store::{Store, sqlite::Sqlite},
    tool::{Caller, Toolset},
};
use relaylink_mcp::{Authenticate, Http, Server, auth::AuthError};
use tempfile::TempDir;

use super::{Site, tools::Bench};

/// A store in a file, and a Relay over it in which Ana has an account.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) post: Post,
    pub(crate) relay: Relay,
    pub(crate) ana: Caller,
}

impl House {
    pub(crate) async fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.path().join("relaylink.db")).unwrap());
        let post = Post::default();
        let relay = Relay::builder(Arc::clone(&store)).post(post.clone()).build().unwrap();
        let accounts = relay.accounts();
        let (address, name) = ("ana@example.org".parse().unwrap(), "Ana".parse().unwrap());
        let ana = accounts.create_account(address, name).await.unwrap();
        let ana = accounts.key_without_secret(&ana.id, "tests".parse().unwrap(), None).await.unwrap();
        Self { folder, store, post, relay, ana }
    }

    /// These tools over HTTP, to whoever comes: everybody is Ana.
    pub(crate) async fn serve(&self, toolset: Toolset, bench: Arc<Bench>) -> Site {
        let http = Http::new(&Server::new(toolset));
        Site::serving(http.router(Everybody(self.ana.clone())), bench).await
    }
}

/// Everybody is the same.
pub(crate) struct Everybody(pub(crate) Caller);

impl Authenticate for Everybody {
    async fn authenticate(&self, _: &str) -> Result<Option<Caller>, AuthError> {
        Ok(Some(self.0.clone()))
    }
}
