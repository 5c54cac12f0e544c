//! The order in which tables are filled: what a foreign key points to comes first.

use super::Table;
use crate::store::StoreError;

/// The tables, each behind those that it refers to.
pub(super) fn ordered(mut left: Vec<Table>) -> Result<Vec<Table>, StoreError> {
    let mut ordered: Vec<Table> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let names: Vec<_> = left.iter().map(|table| table.name.clone()).collect();
        let free = |table: &Table| !table.references.iter().any(|other| names.contains(other));
        let Some(at) = left.iter().position(free) else {
            return Err(StoreError::Unusable(format!(
                "the rows of {} refer to each other, and cannot be copied one after another",
                names.join(", ")
            )));
        };
        ordered.push(left.remove(at));
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, references: &[&str]) -> Table {
        let references = references.iter().map(|name| (*name).to_owned()).collect();
        Table { name: name.to_owned(), references, ..Table::default() }
    }

    #[test]
    fn what_is_referred_to_comes_first_and_a_circle_is_refused() {
        let tables = vec![table("a", &["c", "b"]), table("b", &["c"]), table("c", &[]), table("d", &[])];
        let order: Vec<_> = ordered(tables).unwrap().into_iter().map(|table| table.name).collect();
        assert_eq!(order, ["c", "b", "a", "d"]);
        for circle in [vec![table("a", &["a"])], vec![table("a", &["b"]), table("b", &["a"])]] {
            assert!(ordered(circle).unwrap_err().to_string().contains("refer to each other"));
        }
    }
}
