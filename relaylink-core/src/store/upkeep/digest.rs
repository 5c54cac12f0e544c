//! What two tables are compared by.

use sha2::{Digest as _, Sha256};

use super::{Content, Table};
use crate::store::{Row, Value};

/// SHA-256 over a table's rows in the order of their keys, the same on every engine: a value is its
/// kind, its length and its bytes; a boolean is the whole number that an engine without booleans keeps.
pub(super) struct Digest {
    sum: Sha256,
    rows: u64,
}

impl Digest {
    pub(super) fn of(table: &Table) -> Self {
        let mut digest = Self { sum: Sha256::new(), rows: 0 };
        digest.bytes(b'n', table.name.as_bytes());
        for column in &table.columns {
            digest.bytes(b'c', column.as_bytes());
        }
        digest
    }

    pub(super) fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.bytes(b'r', &[]);
        for value in row.columns() {
            match value {
                Value::Null => self.bytes(b'0', &[]),
                Value::Bool(value) => self.bytes(b'i', &i64::from(*value).to_be_bytes()),
                Value::Integer(value) => self.bytes(b'i', &value.to_be_bytes()),
                Value::Real(value) => self.bytes(b'f', &value.to_bits().to_be_bytes()),
                Value::Text(text) => self.bytes(b't', text.as_bytes()),
                Value::Bytes(bytes) => self.bytes(b'b', bytes),
            }
        }
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.sum.update([kind]);
        self.sum.update((bytes.len() as u64).to_be_bytes());
        self.sum.update(bytes);
    }

    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn end(self) -> Content {
        Content { rows: self.rows, digest: data_encoding::HEXLOWER.encode(&self.sum.finalize()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[&[Value]]) -> String {
        let mut digest = Digest::of(&Table { name: "t".to_owned(), ..Table::default() });
        for row in rows {
            digest.add(&Row::new(row.to_vec()));
        }
        digest.end().digest
    }

    #[test]
    fn what_differs_has_another_digest_and_a_boolean_is_its_number() {
        let rows: [&[&[Value]]; 8] = [
            &[],
            &[&[]],
            &[&[Value::Null]],
            &[&["ab".into(), "c".into()]],
            &[&["a".into(), "bc".into()]],
            &[&["a".into()], &["bc".into()]],
            &[&[Value::Bytes(b"a".to_vec())]],
            &[&[1_i64.into()]],
        ];
        for (at, one) in rows.iter().enumerate() {
            for other in &rows[..at] {
                assert_ne!(digest(one), digest(other), "{one:?} {other:?}");
            }
        }
        assert_eq!(digest(&[&[true.into()]]), digest(&[&[1_i64.into()]]));
    }
}
