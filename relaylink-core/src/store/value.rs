use super::StoreError;

/// A value in a row or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false; an engine without booleans keeps 1 or 0.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

macro_rules! into_value {
    ($($from:ty, $value:ident => $made:expr;)*) => {$(
        impl From<$from> for Value { fn from($value: $from) -> Self { $made } }
    )*};
}

into_value! {
    bool, v => Self::Bool(v);
    i64, v => Self::Integer(v);
    i32, v => Self::Integer(v.into());
    u32, v => Self::Integer(v.into());
    &str, v => Self::Text(v.to_owned());
    &String, v => Self::Text(v.clone());
    String, v => Self::Text(v);
    Vec<u8>, v => Self::Bytes(v);
    &[u8], v => Self::Bytes(v.to_vec());
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Value {
    /// What it is, without it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// A type a column can be read as.
pub trait FromValue: Sized {
    /// Reads it, or says what was there instead.
    fn from_value(value: Value) -> Result<Self, StoreError>;
}

fn unexpected<T>(value: &Value) -> StoreError {
    StoreError::Shape(format!("{} where {} was due", value.kind(), std::any::type_name::<T>()))
}

macro_rules! from_value {
    ($($to:ty { $($pattern:pat => $made:expr),+ $(,)? })*) => {$(
        impl FromValue for $to {
            fn from_value(value: Value) -> Result<Self, StoreError> {
                match value { $($pattern => Ok($made),)+ other => Err(unexpected::<$to>(&other)) }
            }
        }
    )*};
}

from_value! {
    bool { Value::Bool(v) => v, Value::Integer(0) => false, Value::Integer(1) => true }
    i64 { Value::Integer(v) => v }
    String { Value::Text(v) => v }
    Vec<u8> { Value::Bytes(v) => v }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        Ok(value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        match value {
            Value::Null => Ok(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(Vec<Value>);

impl Row {
    /// A row of these columns.
    pub fn new(columns: Vec<Value>) -> Self {
        Self(columns)
    }

    /// Takes the column out, read as `T`; what stays behind is null.
    pub fn take<T: FromValue>(&mut self, column: usize) -> Result<T, StoreError> {
        let value = self.0.get_mut(column).ok_or_else(|| StoreError::Shape(format!("no column {column}")))?;
        T::from_value(std::mem::replace(value, Value::Null))
    }

    /// All columns.
    pub fn columns(&self) -> &[Value] {
        &self.0
    }
}

/// The first row, read.
pub(crate) fn one<T, E>(rows: Vec<Row>, read: impl FnOnce(Row) -> Result<T, E>) -> Result<Option<T>, E> {
    rows.into_iter().next().map(read).transpose()
}
