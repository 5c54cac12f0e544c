use clap::Subcommand;
use relaylink_core::relay::{Address, Name};
use serde_json::json;

use crate::{failure::Failure, home::Home, options::read, output};

/// Makes and lists accounts.
#[derive(Subcommand)]
pub(crate) enum Account {
    /// Makes an account, and writes its id.
    Create {
        /// Its address.
        #[arg(value_parser = read::<Address>)]
        email: Address,
        /// The name others see.
        #[arg(long, value_parser = read::<Name>, env = "RELAYLINK_NAME")]
        name: Name,
    },
    /// Lists all accounts.
    List {
        /// As JSON.
        #[arg(long, env = "RELAYLINK_JSON", value_parser = clap::builder::BoolishValueParser::new())]
        json: bool,
    },
}

impl Account {
    pub(crate) async fn run(self, home: &Home) -> Result<(), Failure> {
        match self {
            Self::Create { email, name } => {
                output::line(home.accounts().create_account(email, name).await?.id.as_str())
            }
            Self::List { json } => list(home, json).await,
        }
    }
}

async fn list(home: &Home, json: bool) -> Result<(), Failure> {
    let accounts = home.accounts().list_accounts().await?;
    if json {
        let accounts = accounts.iter().map(|account| {
            json!({ "account": account.id, "address": account.address, "name": account.name, "created": account.created })
        });
        return output::json(&accounts.collect::<Vec<_>>());
    }
    let rows: Vec<_> = accounts
        .iter()
        .map(|account| {
            [
                account.address.to_string(),
                account.name.to_string(),
                account.created.to_string(),
                account.id.to_string(),
            ]
        })
        .collect();
    output::table(["ADDRESS", "NAME", "CREATED", "ACCOUNT"], &rows)
}
