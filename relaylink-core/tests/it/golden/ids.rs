//! The arguments that are ids, and the kinds that each takes: a list that gets shorter is a tenancy
//! suite that asks less.

use std::collections::{BTreeMap, BTreeSet};

use super::compare;
use crate::{
    cases::{CASES, each},
    tenancy::takes,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_arguments_that_are_ids() {
    let mut taken = BTreeMap::<String, BTreeSet<String>>::new();
    for (case, takes) in CASES.iter().zip(each(takes).await) {
        for (place, kinds) in takes {
            taken.entry(format!("{} {place}", case.tool)).or_default().extend(kinds);
        }
    }
    let lines = taken.iter().map(|(place, kinds)| {
        let kinds: Vec<_> = kinds.iter().map(|kind| format!("{kind}_")).collect();
        format!("{place}: {}\n", kinds.join(" "))
    });
    compare("ids.txt", &lines.collect::<String>());
}
