use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::limits::{CURSOR_MAX, PAGE_DEFAULT, PAGE_MAX};
use crate::{
    store::Value,
    tool::{Code, Refusal, Stop},
};

/// How many rows a page of a list has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Default for Limit {
    fn default() -> Self {
        Self(PAGE_DEFAULT)
    }
}

impl Limit {
    /// A page of so many rows; `None` for none at all and for more than [`PAGE_MAX`].
    pub fn new(rows: u32) -> Option<Self> {
        (1..=PAGE_MAX).contains(&rows).then_some(Self(rows))
    }

    /// The rows of the page.
    pub const fn rows(self) -> usize {
        self.0 as usize
    }

    /// One row more than the page has, to see whether there is another: the LIMIT of the statement.
    pub fn and_one(self) -> Value {
        Value::Integer(i64::from(self.0) + 1)
    }

    /// Cuts what `and_one` brought to the page, and makes the cursor where there is more.
    pub fn cut<T, K: fmt::Display>(
        self,
        mut rows: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> (Vec<T>, Option<Cursor>) {
        let more = rows.len() > self.rows();
        rows.truncate(self.rows());
        let next = rows.last().filter(|_| more).map(|last| Cursor::behind(key(last)));
        (rows, next)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = i64::deserialize(deserializer)?;
        let limit = u32::try_from(rows).ok().and_then(Self::new);
        limit.ok_or_else(|| de::Error::custom(format_args!("expected a number from 1 to {PAGE_MAX}")))
    }
}

impl JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let description = format!("How many at most: 1 to {PAGE_MAX}, {PAGE_DEFAULT} unless told.");
        schemars::json_schema!({ "type": "integer", "description": description })
    }
}

/// Where the next page of a list begins: behind the row with this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// The cursor behind the row with this key.
    pub fn behind(key: impl fmt::Display) -> Self {
        Self(key.to_string())
    }

    /// The key, as the list it came from reads it. A cursor of another list is refused.
    pub fn key<K: FromStr>(&self) -> Result<K, Stop> {
        self.0.parse().map_err(|_| Self::of_another_list())
    }

    /// What a list answers to a cursor that it did not give.
    pub fn of_another_list() -> Stop {
        Refusal::new(Code::InvalidArgument, "This cursor is not one that this list gave.")
            .field("cursor")
            .hint("Give `nextCursor` of the page before, or leave it out to start anew.")
            .into()
    }
}

impl Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&data_encoding::BASE64URL_NOPAD.encode(self.0.as_bytes()))
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Some(text)
            .filter(|text| !text.is_empty() && text.len() <= CURSOR_MAX)
            .and_then(|text| data_encoding::BASE64URL_NOPAD.decode(text.as_bytes()).ok())
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(Self)
            .ok_or_else(|| de::Error::custom("expected the `nextCursor` of the page before"))
    }
}

impl JsonSchema for Cursor {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cursor".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "The `nextCursor` of the page before." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn a_page_has_one_to_a_hundred_rows() {
        assert_eq!(Limit::default().rows(), 20);
        for rows in [1, 100] {
            assert_eq!(from_value::<Limit>(json!(rows)).unwrap().rows(), rows);
        }
        for rows in [json!(0), json!(101), json!(-1), json!(4_294_967_297_i64)] {
            assert!(from_value::<Limit>(rows).is_err());
        }
    }

    #[test]
    fn a_cursor_comes_only_where_there_is_more_and_reads_back() {
        let limit = Limit::new(2).unwrap();
        assert_eq!(limit.cut(vec![1, 2], |n| *n), (vec![1, 2], None));
        let (rows, next) = limit.cut(vec![1, 2, 3], |n| *n);
        assert_eq!(rows, [1, 2]);
        let wire = to_value(next.unwrap()).unwrap();
        assert_eq!(from_value::<Cursor>(wire).unwrap().key::<u32>().unwrap(), 2);
        assert!(from_value::<Cursor>(json!("???")).is_err());
        // No row has an empty key: so an empty text is as good as absent.
        assert!(from_value::<Cursor>(json!("")).is_err());
        let long = |length: usize| data_encoding::BASE64URL_NOPAD.encode("x".repeat(length).as_bytes());
        assert!(from_value::<Cursor>(json!(long(300))).is_ok());
        assert!(from_value::<Cursor>(json!(long(301))).is_err());
        assert!(Cursor::behind("x").key::<u32>().is_err());
    }
}
