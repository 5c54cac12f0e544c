//! With one connection of each kind every tool is answered, also twenty times at once, and no row
//! is left pointing at one that is gone.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use relaylink_core::{
    relay::Relay,
    store::sqlite::{Options, Sqlite},
    tool::Code,
};
use tokio::time::timeout;

use crate::{
    cases::{Case, each},
    rows,
    world::answered,
};

async fn calls(case: &'static Case) {
    let (frozen, scene) = case.ready().await;
    let town = frozen.thaw();
    let store = Arc::new(Sqlite::open_with(town.file(), Options::default().readers(1).inline(1)).unwrap());
    let relay = Relay::builder(store).clock(town.clock.clone()).build().unwrap();
    let call = || relay.call(&scene.caller, case.tool, scene.arguments.clone());
    timeout(Duration::from_mins(1), async {
        call().await.unwrap_or_else(|error| panic!("{case}: {error:?}"));
        for answer in join_all((0..20).map(|_| call())).await {
            if let Err(refusal) = answered(answer) {
                assert_ne!(refusal.code, Code::Unavailable, "{case}: {refusal:?}");
            }
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{case} waits for ever"));
    let rows = rows::read(&town.file());
    let mut orphans = rows.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!orphans.exists([]).unwrap(), "{case} left a row that points at none");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_is_answered_once_and_twenty_times_at_once() {
    each(calls).await;
}
