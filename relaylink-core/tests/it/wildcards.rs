//! What is asked for is taken letter by letter: no character of a query stands for another.

use serde_json::json;

use crate::town::{Town, list, text};

#[tokio::test]
async fn no_character_of_a_query_for_contacts_stands_for_another() {
    let town = Town::new().await;
    for email in ["a_b@example.org", "axb@example.org", "500@example.org", "50%@example.org"] {
        town.ok("ana", "invite_contact", json!({ "email": email })).await;
    }
    for (query, found) in [
        ("a_b", &["a_b@example.org"][..]),
        ("_", &["a_b@example.org"]),
        ("50%", &["50%@example.org"]),
        ("%", &["50%@example.org"]),
        ("50", &["50%@example.org", "500@example.org"]),
        ("\\", &[]),
        ("*", &[]),
        ("?", &[]),
        ("a.b", &[]),
    ] {
        let page = town.ok("ana", "list_contacts", json!({ "query": query })).await;
        let addresses: Vec<_> = list(&page["contacts"]).iter().map(|entry| text(&entry["address"])).collect();
        assert_eq!(addresses, found, "{query}");
    }
}
