use super::{entry::Place, rows};
use crate::{
    account::{self, Card},
    people::{Entry, State},
    prelude::*,
    relay::{
        Cursor, Limit, fold,
        limits::{CONTACTS_BATCH, QUERY_MAX},
        text,
    },
};

/// Lists the people the account knows, newest first: contacts, requests that came in or went out
/// and wait for an answer, and people the account has blocked. Changes nothing. `accept_contact`
/// answers a request that came in; `withdraw_invite` takes one back.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct ListContacts {
    /// Only those who stand so; all unless told.
    pub state: Option<State>,
    /// Only those whose name or address holds this.
    pub query: Option<String>,
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// People an account knows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contacts {
    /// The people, newest first.
    pub contacts: Vec<Entry>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

const ALL: [State; 4] = [State::Accepted, State::Incoming, State::Outgoing, State::Blocked];

impl Run for ListContacts {
    type Reply = Contacts;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Contacts, Stop> {
        let me = account::me(tx)?;
        let mut place = self.cursor.as_ref().map_or(Ok(Place::newest()), Cursor::key)?;
        let limit = self.limit;
        let query = text::sought("query", self.query.as_deref().unwrap_or_default(), QUERY_MAX)?;
        let query = Some(fold(query)).filter(|query| !query.is_empty());
        let size = if query.is_some() { CONTACTS_BATCH } else { limit.rows() + 1 };
        let mut found = Vec::new();
        loop {
            let batch = self.batch(tx, &me, &place, size)?;
            let last = batch.last().map(|(place, _)| place.clone()).filter(|_| batch.len() == size);
            found.extend(batch.into_iter().filter(|(_, entry)| holds(entry, query.as_deref())));
            match last {
                Some(last) if found.len() <= limit.rows() => place = last,
                _ => break,
            }
        }
        let (page, next_cursor) = limit.cut(found, |(place, _)| place.clone());
        Ok(Contacts { contacts: page.into_iter().map(|(_, entry)| entry).collect(), next_cursor })
    }
}

impl ListContacts {
    /// The next entries behind a place, of all states that are asked for.
    fn batch(
        &self,
        tx: &mut Tx<'_, Self>,
        me: &Card,
        behind: &Place,
        size: usize,
    ) -> Result<Vec<(Place, Entry)>, Stop> {
        let mut batch = Vec::new();
        for state in ALL {
            if self.state.is_none_or(|wanted| wanted == state) {
                batch.append(&mut rows::list(tx, me, state, behind, size)?);
            }
        }
        batch.sort_by(|(a, _), (b, _)| b.cmp(a));
        batch.truncate(size);
        Ok(batch)
    }
}

fn holds(entry: &Entry, query: Option<&str>) -> bool {
    query.is_none_or(|query| {
        fold(entry.address.as_str()).contains(query)
            || entry.name.as_deref().is_some_and(|name| fold(name).contains(query))
    })
}
