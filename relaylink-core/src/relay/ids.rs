use std::sync::LazyLock;

use data_encoding::{Encoding, Specification};

use super::Timestamp;
use crate::store::Value;

/// Gives the randomness of each call, fixed before its first run.
pub trait Seeds: Send + Sync + 'static {
    /// Sixteen fresh bytes.
    fn seed(&self) -> [u8; 16];
}

/// The machine's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemSeeds;

impl Seeds for SystemSeeds {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn seed(&self) -> [u8; 16] {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).expect("the operating system gives randomness");
        seed
    }
}

/// A text is not an id of the kind that was due.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an id: `{prefix}_` and {LENGTH} characters")]
pub struct IdError {
    /// The prefix that was due, without its underscore.
    pub prefix: &'static str,
}

/// Crockford's alphabet in lower case: it sorts as the bytes do, and has no letter that reads as a digit.
static ALPHABET: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str("0123456789abcdefghjkmnpqrstvwxyz");
    #[expect(clippy::expect_used, reason = "thirty-two distinct symbols, always")]
    specification.encoding().expect("thirty-two distinct symbols")
});

/// The characters of an id after its prefix.
const LENGTH: usize = 26;

/// What sorts after all that can stand behind an id's prefix.
pub(crate) fn highest() -> String {
    "z".repeat(LENGTH)
}

/// Below which id a list begins that goes from the newest to the oldest: below this one, or where
/// there is none, below all with this prefix.
pub(crate) fn below(prefix: &str, id: Option<&str>) -> Value {
    Value::Text(id.map_or_else(|| format!("{prefix}_{}", highest()), str::to_owned))
}

/// A new id: prefix, underscore, `UUIDv7` of this moment. The `n`-th of a call sorts after the one before.
pub(super) fn mint(prefix: &str, now: Timestamp, seed: [u8; 16], n: u32) -> String {
    let mut random = [0_u8; 10];
    random.copy_from_slice(&seed[..10]);
    let mixed = u32::from_be_bytes([random[6], random[7], random[8], random[9]]) ^ n.rotate_left(16);
    random[6..].copy_from_slice(&mixed.to_be_bytes());
    // rand_a, the twelve bits behind the time, counts within the call.
    let high = (u16::from_be_bytes([seed[10], seed[11]]) & 0x03ff)
        + u16::try_from(n).unwrap_or(u16::MAX).min(0x0bff);
    random[..2].copy_from_slice(&high.to_be_bytes());
    let millis = u64::try_from(now.as_millis()).unwrap_or(0);
    let id = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
    format!("{prefix}_{}", ALPHABET.encode(id.as_bytes()))
}

/// A typed id.
pub trait Id: Sized {
    /// What it starts with, without the underscore.
    const PREFIX: &'static str;
    /// The id that was minted as this text.
    #[doc(hidden)]
    fn from_minted(text: String) -> Self;
}

/// Whether this is an id with this prefix.
pub(crate) fn check(prefix: &'static str, text: &str) -> Result<(), IdError> {
    let rest = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    match rest {
        Some(rest) if is_minted(rest) => Ok(()),
        _ => Err(IdError { prefix }),
    }
}

/// Whether this is an id of any kind.
#[cfg(feature = "sqlite")]
pub(crate) fn is_id(text: &str) -> bool {
    text.split_once('_')
        .is_some_and(|(prefix, rest)| prefix.bytes().all(|byte| byte.is_ascii_lowercase()) && is_minted(rest))
}

fn is_minted(rest: &str) -> bool {
    rest.len() == LENGTH && ALPHABET.decode(rest.as_bytes()).is_ok()
}

/// Declares id types: `MemoryId: "mem", "memory"` is a string on the wire and in a row, its prefix checked when read.
macro_rules! ids {
    ($($(#[$docs:meta])* $name:ident: $prefix:literal;)*) => {$(
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as it is written.
            pub fn as_str(&self) -> &str { &self.0 }
        }

        impl $crate::relay::Id for $name {
            const PREFIX: &'static str = $prefix;
            fn from_minted(text: String) -> Self { Self(text) }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(&self.0) }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::relay::IdError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::relay::check_id($prefix, text)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": concat!("An id: `", $prefix, "_…`.") })
            }
        }

        impl From<&$name> for $crate::store::Value {
            fn from(id: &$name) -> Self { Self::Text(id.0.clone()) }
        }

        impl $crate::store::FromValue for $name {
            fn from_value(value: $crate::store::Value) -> Result<Self, $crate::store::StoreError> {
                String::from_value(value).map(Self)
            }
        }
    )*};
}

pub(crate) use ids;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_then_by_their_place_in_the_call() {
        let (early, late) = (Timestamp::from_millis(1_000), Timestamp::from_millis(1_001));
        let ids: Vec<_> = (0..1_000).map(|n| mint("mem", early, [7; 16], n)).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ids[999] < mint("mem", late, [0; 16], 0));
        for id in &ids {
            assert_eq!(check("mem", id), Ok(()));
            assert!(check("drf", id).is_err());
        }
    }
}
