//! Every list, page by page while rows come and go: what was there throughout is seen once. The
//! lists are found by their arguments.

use std::collections::BTreeMap;

use relaylink_core::tool::{Code, Descriptor};
use serde_json::Value as Json;

use crate::{
    cases::{Listing, listings, tools},
    town::Town,
    world::object,
};

/// Rows there are from the start, rows of a page.
const ROWS: usize = 250;
const PAGE: usize = 20;

fn is_list(tool: &Descriptor) -> bool {
    ["limit", "cursor"].iter().all(|name| tool.input["properties"].get(name).is_some())
}

/// The listing of each tool that lists; one without rows to list fails.
fn lists() -> Vec<Listing> {
    let tools = tools();
    let mut known: BTreeMap<_, _> = listings().into_iter().map(|listing| (listing.tool, listing)).collect();
    let (mut lists, mut bare) = (Vec::new(), Vec::new());
    for tool in tools.list().filter(|tool| is_list(tool)) {
        match known.remove(tool.name) {
            Some(listing) => lists.push(listing),
            None => bare.push(tool.name),
        }
    }
    assert!(bare.is_empty(), "lists without rows in tests/it/cases: {}", bare.join(", "));
    assert!(known.is_empty(), "rows of lists that are not there: {:?}", known.keys());
    lists
}

/// The arguments of the list with this page.
fn page(arguments: &Json, cursor: Option<&Json>) -> Json {
    let mut all = object(arguments.clone());
    all.insert("limit".into(), PAGE.into());
    all.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.clone())));
    all.into()
}

/// The one array of a reply: its rows.
fn rows(reply: &Json) -> &[Json] {
    let arrays: Vec<_> = reply.as_object().unwrap().values().filter_map(Json::as_array).collect();
    assert_eq!(arrays.len(), 1, "a list is one array: {reply}");
    arrays[0]
}

/// Goes through the whole list while rows come and go, and says what is wrong.
async fn walk(listing: &Listing) {
    let tool = listing.tool;
    let town = Town::new().await;
    let (ids, arguments) = (listing.fill)(&town, ROWS).await;
    assert_eq!(ids.len(), ROWS, "{tool}");
    let mut seen: BTreeMap<&str, usize> = ids.iter().map(|id| (id.as_str(), 0)).collect();
    assert_eq!(seen.len(), ROWS, "{tool}: rows with the same id");
    // An empty cursor is none.
    let (mut cursor, mut pages, mut gone) = (Some(Json::from("")), 0, Vec::new());
    loop {
        let reply = town.ok("ana", tool, page(&arguments, cursor.as_ref())).await;
        let rows = rows(&reply);
        pages += 1;
        assert!(rows.len() <= PAGE, "{tool}: page {pages} has {} rows", rows.len());
        for row in rows {
            let own = row.as_object().unwrap().values().filter_map(Json::as_str);
            for id in own {
                seen.get_mut(id).into_iter().for_each(|times| *times += 1);
            }
        }
        let Some(next) = reply.get("nextCursor") else { break };
        assert!(!rows.is_empty(), "{tool}: page {pages} is empty and not the last");
        assert!(pages < ROWS, "{tool}: it does not end");
        cursor = Some(next.clone());
        // One comes, and one goes that has been seen or is still to come.
        (listing.fill)(&town, 1).await;
        if let Some((remove, argument)) = listing.remove {
            let id = &ids[(pages * 97) % ROWS];
            town.ok("ana", remove, serde_json::json!({ argument: id })).await;
            gone.push(id.as_str());
        }
    }
    assert!(pages >= ROWS / PAGE, "{tool}: {pages} pages");
    let wrong: Vec<_> = seen
        .iter()
        .filter(|(id, times)| if gone.contains(id) { **times > 1 } else { **times != 1 })
        .collect();
    assert!(wrong.is_empty(), "{tool}: rows and how often they were seen: {wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_there_throughout_is_seen_once() {
    let lists = lists();
    let walks = lists.iter().map(walk);
    futures_util::future::join_all(walks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_list_is_refused() {
    let (mut cursors, lists) = (Vec::new(), lists());
    let town = Town::new().await;
    let mut arguments = BTreeMap::new();
    for listing in &lists {
        let filled = (listing.fill)(&town, 2).await;
        let mut first = page(&filled.1, None);
        first["limit"] = 1.into();
        let reply = town.ok("ana", listing.tool, first).await;
        cursors.push((listing.tool, reply["nextCursor"].clone()));
        arguments.insert(listing.tool, filled.1);
    }
    let mut wrong = Vec::new();
    for (from, cursor) in &cursors {
        assert!(cursor.is_string(), "{from} has no second page");
        for listing in lists.iter().filter(|listing| listing.tool != *from) {
            let page = page(&arguments[listing.tool], Some(cursor));
            match town.call("ana", listing.tool, page).await {
                Err(refusal) if refusal.code == Code::InvalidArgument => {
                    assert_eq!(refusal.field.as_deref(), Some("cursor"), "{refusal:?}");
                }
                answer => wrong.push(format!("{} with a cursor of {from}: {answer:?}", listing.tool)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_one_to_a_hundred() {
    let town = Town::new().await;
    for listing in lists() {
        let (_, arguments) = (listing.fill)(&town, 1).await;
        for limit in [Json::from(0), (-1).into(), 101.into(), 4_294_967_296_u64.into(), i64::MAX.into()] {
            let mut page = page(&arguments, None);
            page["limit"] = limit.clone();
            let refusal = town.refused("ana", listing.tool, page, Code::InvalidArgument).await;
            assert_eq!(refusal.field.as_deref(), Some("limit"), "{limit}: {refusal:?}");
        }
        for limit in [Json::from(1), 100.into(), 5.0.into(), "5".into()] {
            let mut page = page(&arguments, None);
            page["limit"] = limit;
            town.ok("ana", listing.tool, page).await;
        }
    }
}
