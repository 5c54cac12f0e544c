use serde_json::{Map, Value as Json};

/// A published schema, as arguments are read by it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Text,
    Choice(Box<[Box<str>]>),
    Whole,
    Number,
    Flag,
    List(Box<Shape>),
    /// Its fields, sorted by name.
    Record(Box<[Field]>),
    /// Any object.
    Free,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

impl Shape {
    /// The shape of a portable schema.
    pub(crate) fn of(schema: &Map<String, Json>) -> Self {
        let inner = |schema: &Json| schema.as_object().map_or(Self::Free, Self::of);
        let texts = |key: &str| {
            let list = schema.get(key).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            list.iter().filter_map(Json::as_str)
        };
        match schema.get("type").and_then(Json::as_str) {
            Some("string") if schema.contains_key("enum") => {
                Self::Choice(texts("enum").map(Box::from).collect())
            }
            Some("string") => Self::Text,
            Some("integer") => Self::Whole,
            Some("number") => Self::Number,
            Some("boolean") => Self::Flag,
            Some("array") => Self::List(Box::new(schema.get("items").map_or(Self::Free, inner))),
            _ => match schema.get("properties").and_then(Json::as_object) {
                None => Self::Free,
                Some(properties) => {
                    let field = |(name, property): (&String, &Json)| Field {
                        name: name.as_str().into(),
                        required: texts("required").any(|required| required == name),
                        shape: inner(property),
                    };
                    let mut fields: Vec<_> = properties.iter().map(field).collect();
                    fields.sort_unstable_by(|a, b| a.name.cmp(&b.name));
                    Self::Record(fields.into())
                }
            },
        }
    }

    /// What is due there, in words.
    pub(super) fn due(&self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Choice(values) => format!("one of {}", quoted(values)),
            Self::Whole => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Record(_) | Self::Free => "an object".to_owned(),
            Self::List(items) => match &**items {
                Self::Text => "a list of strings".to_owned(),
                Self::Choice(values) => format!("a list out of {}", quoted(values)),
                Self::Whole => "a list of whole numbers".to_owned(),
                Self::Number => "a list of numbers".to_owned(),
                Self::Flag => "a list of true or false".to_owned(),
                Self::List(_) => "a list of lists".to_owned(),
                Self::Record(_) | Self::Free => "a list of objects".to_owned(),
            },
        }
    }
}

fn quoted(values: &[Box<str>]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}
