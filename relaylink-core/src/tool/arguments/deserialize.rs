use std::fmt::{self, Display};

use serde::{
    Deserializer, de,
    de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor},
    forward_to_deserialize_any,
};
use serde_json::{Map, Value as Json};

use super::path::{Path, Segment};

/// Why a tool could not be read from arguments that fit its schema.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) path: Path,
    pub(super) what: String,
}

const MISSING: &str = "it is missing";

impl Fault {
    fn new(what: impl Into<String>) -> Self {
        Self { path: Path::default(), what: what.into() }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.what == MISSING
    }

    pub(super) fn under_key(self, key: String) -> Self {
        Self { path: self.path.within(Segment::Key(key)), ..self }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

/// What a visitor expects, in words without Rust's.
fn due(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "a string" | "str" | "string" => "expected a string".to_owned(),
        "a boolean" => "expected true or false".to_owned(),
        "a sequence" => "expected a list".to_owned(),
        "a map" => "expected an object".to_owned(),
        text if text.starts_with("struct ") => "expected an object".to_owned(),
        text if ["enum ", "tuple ", "unit", "newtype ", "variant "].iter().any(|w| text.starts_with(w)) => {
            "it has none of the forms that are allowed".to_owned()
        }
        text if ["i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128", "isize", "usize"]
            .iter()
            .any(|word| text.ends_with(word)) =>
        {
            let other = if text.contains("nonzero") { " other than 0" } else { "" };
            format!("expected a whole number{other}, within bounds")
        }
        text => format!("expected {text}"),
    }
}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        if text.starts_with("data did not match any variant") {
            return Self::new("it has none of the forms that are allowed");
        }
        Self::new(text)
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(due(expected))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(due(expected))
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(format!("{}, not {length} items", due(expected)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("expected one of `{}`", expected.join("`, `")))
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::new("there is no such argument").under_key(field.to_owned())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(MISSING).under_key(field.to_owned())
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new("it is given twice").under_key(field.to_owned())
    }
}

/// What `serde_json` itself refuses.
fn foreign(error: serde_json::Error) -> Fault {
    de::Error::custom(error)
}

/// Arguments that a tool is read from, whose faults know their path.
pub(super) struct De(pub(super) Json);

/// A whole number between the bounds of the type that is due.
macro_rules! whole {
    ($($method:ident $type:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let Json::Number(number) = &self.0 else { return self.deserialize_any(visitor) };
            let (least, most) = (i128::from($type::MIN), i128::from($type::MAX));
            let given = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
            if given.is_none_or(|given| given < least || given > most) {
                return Err(Fault::new(format!("expected a whole number from {least} to {most}")));
            }
            self.deserialize_any(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for De {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(flag) => visitor.visit_bool(flag),
            // With `arbitrary_precision` a number is more than its value; it knows how it is read.
            Json::Number(number) => number.deserialize_any(visitor).map_err(foreign),
            Json::String(text) => visitor.visit_string(text),
            Json::Array(items) => visitor.visit_seq(Items { items: items.into_iter(), index: 0 }),
            Json::Object(map) => visitor.visit_map(Entries { entries: map.into_iter(), next: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Json::String(text) => visitor.visit_enum(text.into_deserializer()),
            other => other.deserialize_enum(name, variants, visitor).map_err(foreign),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.as_f64() {
            Some(real) => visitor.visit_f64(real),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    whole! {
        deserialize_i8 i8; deserialize_i16 i16; deserialize_i32 i32; deserialize_i64 i64;
        deserialize_u8 u8; deserialize_u16 u16; deserialize_u32 u32; deserialize_u64 u64;
    }

    forward_to_deserialize_any! {
        bool i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

struct Items {
    items: std::vec::IntoIter<Json>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        let within = |fault: Fault| Fault { path: fault.path.within(Segment::Index(index)), ..fault };
        seed.deserialize(De(item)).map(Some).map_err(within)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries {
    entries: <Map<String, Json> as IntoIterator>::IntoIter,
    next: Option<(String, Json)>,
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.next = self.entries.next();
        match &self.next {
            Some((key, _)) => seed.deserialize(key.as_str().into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((key, value)) = self.next.take() else { return Err(Fault::new(MISSING)) };
        seed.deserialize(De(value)).map_err(|fault| fault.under_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// Whether `T` has a flattened field: serde then reads it as a map, not as a struct, and keeps the rest.
pub(super) fn keeps_the_rest<T: DeserializeOwned>() -> bool {
    matches!(T::deserialize(Probe), Err(Probed::Map))
}

struct Probe;

#[derive(Debug)]
enum Probed {
    Map,
    Other,
}

impl Display for Probed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probe")
    }
}

impl std::error::Error for Probed {}

impl de::Error for Probed {
    fn custom<T: Display>(_: T) -> Self {
        Self::Other
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Probed;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Probed> {
        Err(Probed::Other)
    }

    fn deserialize_map<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Probed> {
        Err(Probed::Map)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct struct enum identifier ignored_any
    }
}
