use clap::{Args, builder::BoolishValueParser};
use relaylink_core::{
    account::Account,
    relay::{Address, Name},
};

use super::on_signal;
use crate::{
    failure::Failure,
    home::Home,
    offer,
    options::{May, Offered, ceiling, read},
};

/// Serves one account to one client over stdin and stdout.
#[derive(Args)]
pub(crate) struct Stdio {
    /// Whose account; by default the only one; me@localhost is made where there is none.
    #[arg(long, value_name = "EMAIL", value_parser = read::<Address>, env = "RELAYLINK_ACCOUNT")]
    account: Option<Address>,
    /// The name of the key it acts as, made where there is none. It has no secret, is listed like any
    /// other key, and can be revoked.
    #[arg(long = "as", value_name = "NAME", value_parser = read::<Name>, env = "RELAYLINK_AS", default_value = "stdio")]
    acts_as: Name,
    /// What that key may do beside reading, when it is made; by default all of it.
    #[arg(long, value_delimiter = ',', env = "RELAYLINK_MAY")]
    may: Option<Vec<May>>,
    /// It may only read, when it is made, and is offered what a key over HTTP that only reads is.
    #[arg(long, env = "RELAYLINK_KEY_READ_ONLY", value_parser = BoolishValueParser::new())]
    key_read_only: bool,
    #[command(flatten)]
    offered: Offered,
}

impl Stdio {
    pub(crate) async fn run(self, home: Home) -> Result<(), Failure> {
        let server = offer::server(home.relay.toolset(), &self.offered)?;
        let account = match &self.account {
            Some(address) => home.account(address).await?,
            None => only_account(&home).await?,
        };
        let ceiling = ceiling(self.may.as_deref(), self.key_read_only, "--key-read-only")?;
        let caller = home.accounts().key_without_secret(&account.id, self.acts_as.clone(), ceiling).await;
        let caller = caller.map_err(|stop| Failure::from(stop).hint("Act under another name: --as NAME."))?;
        let key = home.key(&account, &self.acts_as).await?;
        tracing::info!("acting as the key \"{}\" of {}. {}", key.name, account.address, key.may());
        let stop = on_signal();
        let serving = async {
            let ended = relaylink_mcp::stdio::serve(&server, caller, stop.clone().cancelled_owned()).await;
            stop.cancel();
            ended
        };
        let (ended, ()) = tokio::join!(serving, home.keep(stop.clone()));
        ended.map_err(|error| Failure::new(format!("stdin and stdout cannot be served: {error}")))
    }
}

/// The only account; a first one where there is none.
async fn only_account(home: &Home) -> Result<Account, Failure> {
    let mut accounts = home.accounts().list_accounts().await?;
    if accounts.is_empty() {
        let address = read("me@localhost").map_err(Failure::new)?;
        let name = read("Me").map_err(Failure::new)?;
        // Another process may be first: then that one is it.
        match home.accounts().create_account(address, name).await {
            Ok(account) => return Ok(account),
            Err(_) => accounts = home.accounts().list_accounts().await?,
        }
    }
    match <[Account; 1]>::try_from(accounts) {
        Ok([account]) => Ok(account),
        Err(accounts) => {
            let addresses: Vec<_> = accounts.iter().map(|account| account.address.as_str()).collect();
            Err(Failure::usage(format!("there are several accounts: {}", addresses.join(", ")))
                .hint("Say whose: --account EMAIL."))
        }
    }
}
