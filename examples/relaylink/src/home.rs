use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use relaylink_core::{
    account::{Account, Accounts, Key},
    mail::{Courier, DirectoryMailer, Post},
    relay::{Address, Name, Relay, SystemClock},
    store::Store,
};
use relaylink_mcp::limits::SHUTDOWN;
use tokio_util::sync::CancellationToken;

use crate::{
    failure::Failure,
    store::{self, StoreUrl},
};

/// How often the keys' last use is written down.
const KEY_USE: Duration = Duration::from_mins(1);

/// The data directory, opened: mail is written to its `mail/`, and the store is its `relaylink.db` where
/// it is in no database. Several processes may have it open.
pub(crate) struct Home {
    pub(crate) relay: Relay,
    store: Arc<dyn Store>,
    post: Post,
    folder: PathBuf,
}

impl Home {
    /// Opens this folder, or the platform's own, and makes it where it is not there; and the store in
    /// this database, or in the folder.
    pub(crate) fn at(folder: Option<PathBuf>, database: Option<&StoreUrl>) -> Result<Self, Failure> {
        let folder = self::folder(folder)?;
        make(&folder)?;
        writable(&folder)?;
        let store = if let Some(url) = database {
            store::in_database(url)?
        } else {
            let file = folder.join(store::FILE);
            writable_store(&folder, &file)?;
            store::in_file(&file)?
        };
        tracing::debug!(data = %folder.display(), "the data directory is open");
        let post = Post::default();
        let relay = Relay::builder(Arc::clone(&store)).post(post.clone()).build()?;
        Ok(Self { relay, store, post, folder })
    }

    pub(crate) fn accounts(&self) -> Accounts<'_> {
        self.relay.accounts()
    }

    /// The account at this address.
    pub(crate) async fn account(&self, address: &Address) -> Result<Account, Failure> {
        self.accounts().account(address).await?.ok_or_else(|| {
            Failure::new(format!("there is no account for {address}"))
                .hint(format!("Make it: relaylink account create {address} --name NAME"))
        })
    }

    /// The key of this name.
    pub(crate) async fn key(&self, account: &Account, name: &Name) -> Result<Key, Failure> {
        self.accounts().key(&account.id, name).await?.ok_or_else(|| {
            Failure::new(format!("{} has no key named \"{name}\"", account.address))
                .hint(format!("See its keys: relaylink key list {}", account.address))
        })
    }

    /// The courier, which writes letters to `mail/`.
    pub(crate) fn courier(&self) -> Courier {
        let mailer = DirectoryMailer::new(self.folder.join("mail"));
        Courier::new(Arc::clone(&self.store), Arc::new(mailer), Arc::new(SystemClock), self.post.clone())
    }

    /// Does what is done beside the calls until told to stop: mail goes out, and the keys' last use
    /// is written down. Then it has as long to end as the calls have: a store that is away would keep it
    /// for longer, and nothing is lost that a process can lose by its end.
    pub(crate) async fn keep(&self, stop: CancellationToken) {
        let out_of_time = async {
            stop.cancelled().await;
            tokio::time::sleep(SHUTDOWN).await;
        };
        tokio::select! {
            () = self.keep_house(stop.clone()) => {}
            () = out_of_time => tracing::warn!("what was done beside the calls is left as it is"),
        }
    }

    async fn keep_house(&self, stop: CancellationToken) {
        let courier = self.courier();
        let mail = async {
            if let Err(error) = courier.run(stop.clone().cancelled_owned()).await {
                tracing::error!(%error, "mail no longer goes out");
            }
        };
        let use_of_keys = async {
            while tokio::time::timeout(KEY_USE, stop.cancelled()).await.is_err() {
                self.flush_key_use().await;
            }
        };
        tokio::join!(mail, use_of_keys);
        self.flush_key_use().await;
    }

    async fn flush_key_use(&self) {
        if let Err(error) = self.relay.flush_key_use().await {
            tracing::warn!(%error, "when keys were last used is not written down");
        }
    }
}

/// This folder of data, or the platform's own.
pub(crate) fn folder(told: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let own = || directories::ProjectDirs::from("", "", "relaylink").map(|dirs| dirs.data_dir().to_owned());
    told.or_else(own).ok_or_else(|| {
        Failure::usage("this machine names no home directory to keep data in").hint("Say where: --data DIR.")
    })
}

/// Makes a folder of data that its owner alone can read, where it is not there.
pub(crate) fn make(folder: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        Failure::new(format!("the data directory {} cannot be made: {error}", folder.display()))
            .hint("Give another with --data DIR.")
    })
}

/// Refuses a folder that cannot be written.
fn writable(folder: &Path) -> Result<(), Failure> {
    tempfile::tempfile_in(folder).map(drop).map_err(|error| {
        Failure::new(format!("the data directory {} cannot be written: {error}", folder.display()))
            .hint("Give yourself permission to read and write it, or give another with --data DIR.")
    })
}

/// Refuses a file of the store that is there already and cannot be written.
fn writable_store(folder: &Path, file: &Path) -> Result<(), Failure> {
    if file.is_dir() {
        return Err(Failure::new(format!("{} is a directory, where the store's file goes", file.display()))
            .hint("Move it away, or give another data directory with --data DIR."));
    }
    // Beside the file lie its log and the index of the log, perhaps made by somebody else.
    for file in ["relaylink.db", "relaylink.db-wal", "relaylink.db-shm"].map(|name| folder.join(name)) {
        match fs::OpenOptions::new().read(true).write(true).open(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::new(format!("the store {} cannot be written: {error}", file.display()))
                    .hint("Give yourself permission to read and write it, or give another data directory with --data DIR."));
            }
            _ => {}
        }
    }
    Ok(())
}
