//! The bundled RelayLink server: briefings between people's assistants, over MCP.

mod commands;
mod failure;
mod home;
mod log;
mod offer;
mod options;
mod output;
mod store;

use std::{env, path::PathBuf, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, builder::Resettable, error::ErrorKind};

use failure::Failure;
use store::{Place, StoreUrl};

/// Briefings from one person's assistant to another's, over MCP.
#[derive(Parser)]
#[command(name = "relaylink", version, propagate_version = true)]
struct Cli {
    /// The folder of its data: the store, and the mails it writes; by default the platform's own.
    #[arg(long, global = true, value_name = "DIR", env = "RELAYLINK_DATA")]
    data: Option<PathBuf>,
    /// The PostgreSQL database to keep the store in instead of a file in the folder of its data, as
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE. Others on the machine can read an argument: a
    /// password goes in the variable.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "RELAYLINK_STORE",
        hide_env_values = true,
        value_parser = StoreUrl::parser()
    )]
    store: Option<StoreUrl>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays one briefing between two people, and shows every call with its hints.
    Tour(commands::tour::Tour),
    /// Serves one account to one client over stdin and stdout.
    Stdio(commands::stdio::Stdio),
    /// Serves all accounts over HTTP, to whoever has a key.
    Serve(commands::serve::Serve),
    /// Makes and lists accounts.
    #[command(subcommand)]
    Account(commands::account::Account),
    /// Makes, lists and revokes API keys.
    #[command(subcommand)]
    Key(commands::key::Key),
    /// Copies a store to another one, from one engine to the other or not, and compares the two.
    Move(commands::copy::Move),
    /// Looks for damage in a store, and for mail that is stuck.
    Check(commands::check::Check),
    /// Copies a store that is a file to a new file, while it is served.
    Backup(commands::backup::Backup),
    /// Lists the tools: what each may do, what it hints, and what a key can do with it.
    Tools(commands::tools::Tools),
}

fn main() -> ExitCode {
    let cli = arguments();
    log::start();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("the program cannot start its threads: {error}")).report(),
    };
    let done = runtime.block_on(run(cli));
    // A read of a terminal cannot be called off, and is not waited for.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The arguments, and the variables that say anything: an empty one is as good as none, but where it
/// says what a key may do, which must not be all because it says nothing.
fn arguments() -> Cli {
    let given = without_empty(Cli::command()).try_get_matches();
    match given.and_then(|given| Cli::from_arg_matches(&given)) {
        Ok(cli) => cli,
        // Help names every variable.
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Cli::parse(),
        Err(error) => error.exit(),
    }
}

fn without_empty(command: clap::Command) -> clap::Command {
    let is_empty =
        |arg: &clap::Arg| arg.get_env().and_then(env::var_os).is_some_and(|value| value.is_empty());
    command
        .mut_args(
            |arg| if arg.get_id() != "may" && is_empty(&arg) { arg.env(Resettable::Reset) } else { arg },
        )
        .mut_subcommands(without_empty)
}

async fn run(cli: Cli) -> Result<(), Failure> {
    let home = || home::Home::at(cli.data.clone(), cli.store.as_ref());
    match cli.command {
        Command::Tour(tour) => tour.run().await,
        Command::Stdio(stdio) => stdio.run(home()?).await,
        Command::Serve(serve) => serve.run(home()?).await,
        Command::Account(account) => account.run(&home()?).await,
        Command::Key(key) => key.run(&home()?).await,
        Command::Move(copy) => copy.run().await,
        Command::Check(check) => check.run(|| Place::of(cli.data.clone(), cli.store.clone())).await,
        Command::Backup(backup) => backup.run(Place::of(cli.data.clone(), cli.store.clone())?).await,
        Command::Tools(tools) => tools.run(home).await,
    }
}
