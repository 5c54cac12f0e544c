use clap::{Subcommand, builder::BoolishValueParser};
use relaylink_core::{
    account::{RevokeApiKey, everything_listed},
    relay::{Address, Name, Timestamp},
    tool::{Caller, Ceiling},
};
use serde_json::json;

use crate::{
    failure::Failure,
    home::Home,
    options::{FromNow, May, ceiling, read},
    output,
};

/// Makes, lists and revokes API keys.
#[derive(Subcommand)]
pub(crate) enum Key {
    /// Makes a key, and writes it: this once and never again.
    Create {
        /// The account's address.
        #[arg(value_parser = read::<Address>)]
        email: Address,
        /// What to call it; unique in the account.
        #[arg(long, value_parser = read::<Name>, env = "RELAYLINK_NAME")]
        name: Name,
        /// What it may do beside reading; by default all of it.
        #[arg(long, value_delimiter = ',', env = "RELAYLINK_MAY")]
        may: Option<Vec<May>>,
        /// It may only read.
        #[arg(long, env = "RELAYLINK_KEY_READ_ONLY", value_parser = BoolishValueParser::new())]
        read_only: bool,
        /// When it stops opening anything, as 90d, 12h or 6w from now; by default never.
        #[arg(long, value_name = "TIME", value_parser = read::<FromNow>, env = "RELAYLINK_EXPIRES")]
        expires: Option<FromNow>,
    },
    /// Lists keys, revoked ones too, without what would open anything.
    List {
        /// Only those of this account.
        #[arg(value_parser = read::<Address>)]
        email: Option<Address>,
        /// As JSON.
        #[arg(long, env = "RELAYLINK_JSON", value_parser = BoolishValueParser::new())]
        json: bool,
    },
    /// Revokes a key for good, and mails the account's address.
    Revoke {
        /// The account's address.
        #[arg(value_parser = read::<Address>)]
        email: Address,
        /// The key's name.
        #[arg(value_parser = read::<Name>)]
        name: Name,
    },
}

impl Key {
    pub(crate) async fn run(self, home: &Home) -> Result<(), Failure> {
        match self {
            Self::Create { email, name, may, read_only, expires } => {
                let ceiling =
                    ceiling(may.as_deref(), read_only, "--read-only")?.unwrap_or_else(everything_listed);
                create(home, &email, name, ceiling, expires.map(FromNow::moment)).await
            }
            Self::List { email, json } => list(home, email.as_ref(), json).await,
            Self::Revoke { email, name } => revoke(home, &email, &name).await,
        }
    }
}

async fn create(
    home: &Home,
    email: &Address,
    name: Name,
    ceiling: Ceiling,
    expires: Option<Timestamp>,
) -> Result<(), Failure> {
    let account = home.account(email).await?;
    let (key, secret) = home.accounts().create_key(&account.id, name, ceiling, expires).await?;
    eprintln!(
        "The key \"{}\" of {email}. {} It is shown this once: keep it where secrets are kept.",
        key.name,
        key.may()
    );
    output::line(secret.expose()).map_err(|failure| {
        failure.hint(format!(
            "Nobody has the key that was made: revoke it with relaylink key revoke {email} \"{}\".",
            key.name
        ))
    })
}

async fn list(home: &Home, email: Option<&Address>, json: bool) -> Result<(), Failure> {
    let accounts = match email {
        Some(email) => vec![home.account(email).await?],
        None => home.accounts().list_accounts().await?,
    };
    let mut keys = Vec::new();
    for account in accounts {
        let of_account = home.accounts().list_keys(&account.id).await?;
        keys.extend(of_account.into_iter().map(|key| (account.address.clone(), key)));
    }
    if json {
        let keys = keys.iter().map(|(address, key)| {
            json!({
                "address": address, "key": key.id, "name": key.name, "shown": key.shown, "may": key.may(),
                "created": key.created, "lastUsed": key.last_used, "expires": key.expires, "revoked": key.revoked,
            })
        });
        return output::json(&keys.collect::<Vec<_>>());
    }
    let when = |moment: Option<Timestamp>| moment.map_or_else(|| "-".to_owned(), |moment| moment.to_string());
    let rows: Vec<_> = keys
        .iter()
        .map(|(address, key)| {
            [
                address.to_string(),
                key.name.to_string(),
                key.shown.clone().unwrap_or_else(|| "-".to_owned()),
                key.created.to_string(),
                when(key.last_used),
                when(key.expires),
                when(key.revoked),
                key.may(),
            ]
        })
        .collect();
    output::table(["ADDRESS", "NAME", "KEY", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "MAY"], &rows)
}

async fn revoke(home: &Home, email: &Address, name: &Name) -> Result<(), Failure> {
    let account = home.account(email).await?;
    let key = home.key(&account, name).await?;
    let revoked = home.relay.run(&Caller::local(account.id.as_str()), RevokeApiKey { key: key.id }).await?;
    // Where no server runs, its mail would wait for one.
    if let Err(error) = home.courier().drain().await {
        tracing::warn!(%error, "the mail about it waits for the next server");
    }
    output::line(&format!(
        "The key \"{}\" is revoked since {}. It opens nothing.",
        revoked.name, revoked.revoked
    ))
}
