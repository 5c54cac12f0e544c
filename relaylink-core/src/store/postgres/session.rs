//! The session that a work is given.

use std::{
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
};

use futures_util::future::join;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use super::{
    connection::{Fault, Link},
    roles::Roles,
};
use crate::store::{Access, Row, Session, Statement, StoreError, Value, Verdict, Work};

/// A session on a connection. Its transaction begins with its first statement, in the same trip.
struct Open<'c> {
    link: &'c mut Link,
    roles: &'c Roles,
    /// What the transaction may do.
    granted: Access,
    /// What holds now: at most that.
    access: Access,
    /// What the database holds it to; nothing before the transaction has begun.
    told: Option<Access>,
    poison: Option<Fault>,
}

/// How a run of a work ended, before its transaction is closed.
pub(super) struct Ran {
    pub(super) result: Result<Verdict, Fault>,
    /// Whether a transaction was begun.
    pub(super) begun: bool,
}

/// Runs a work once. A panic ends here.
pub(super) fn run(link: &mut Link, roles: &Roles, access: Access, work: &mut Work) -> Ran {
    let mut session = Open { link, roles, granted: access, access, told: None, poison: None };
    let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut session)));
    let result = match (session.poison, verdict) {
        (Some(fault), _) => Err(fault),
        (None, Ok(verdict)) => Ok(verdict),
        (None, Err(_)) => Err(StoreError::Panicked.into()),
    };
    Ran { result, begun: session.told.is_some() }
}

impl Open<'_> {
    /// Runs `act` unless an error came before, and keeps its error for all that comes after.
    fn unless_poisoned<R>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<R, Fault>,
    ) -> Result<R, StoreError> {
        if let Some(fault) = &self.poison {
            return Err(fault.error.clone());
        }
        act(self).map_err(|fault| {
            let error = fault.error.clone();
            self.poison = Some(fault);
            error
        })
    }

    /// Sends the statement, and before it in the same trip what it needs: the transaction's beginning,
    /// or another role.
    fn trip<R>(
        &mut self,
        statement: &'static Statement,
        parameters: &[Value],
        send: impl AsyncFnOnce(
            &tokio_postgres::Client,
            &tokio_postgres::Statement,
            &[&(dyn ToSql + Sync)],
        ) -> Result<R, tokio_postgres::Error>,
    ) -> Result<R, Fault> {
        let prepared = self.link.prepared(statement)?;
        if prepared.params().len() != parameters.len() {
            return Err(StoreError::Engine(format!(
                "the statement takes {} parameters and was given {}",
                prepared.params().len(),
                parameters.len()
            ))
            .into());
        }
        let parameters: Vec<_> = parameters.iter().map(Parameter).collect();
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(|p| p as _).collect();
        let before = match self.told {
            None => Some(self.roles.begin(self.access)),
            Some(told) if told != self.access => Some(self.roles.set(self.access)),
            Some(_) => None,
        };
        // From here on the transaction may be open, whatever becomes of the answer.
        self.told = Some(self.access);
        let client = &self.link.client;
        let mut barred = false;
        let answered = self.link.wait(async {
            let asked = send(client, &prepared, &parameters);
            let Some(before) = before else { return asked.await };
            // Both are on their way before either is answered.
            let (begun, answer) = join(client.batch_execute(before), asked).await;
            barred = begun.is_err();
            begun.and(answer)
        });
        answered.map_err(|fault| if barred { fault.before_the_work() } else { fault })
    }
}

impl Session for Open<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.unless_poisoned(|open| {
            open.trip(statement, parameters, async |client, prepared, parameters| {
                client.execute(prepared, parameters).await
            })
        })
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.unless_poisoned(|open| {
            let rows = open.trip(statement, parameters, async |client, prepared, parameters| {
                client.query(prepared, parameters).await
            })?;
            rows.iter().map(read).collect::<Result<_, _>>().map_err(Fault::from)
        })
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.unless_poisoned(|open| {
            let narrowed = access.and(open.granted);
            Ok(std::mem::replace(&mut open.access, narrowed))
        })
    }
}

/// A value as the parameter of a statement, of the type that the database expects there.
#[derive(Debug)]
pub(super) struct Parameter<'v>(pub(super) &'v Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, of) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Bool(value), &Type::BOOL) => value.to_sql(of, out),
            (Value::Bool(value), &Type::INT8) => i64::from(*value).to_sql(of, out),
            (Value::Integer(value), &Type::INT8) => value.to_sql(of, out),
            (Value::Integer(value), &Type::INT4) => i32::try_from(*value)?.to_sql(of, out),
            (Value::Integer(value), &Type::INT2) => i16::try_from(*value)?.to_sql(of, out),
            (Value::Integer(value @ (0 | 1)), &Type::BOOL) => (*value == 1).to_sql(of, out),
            (Value::Real(value), &Type::FLOAT8) => value.to_sql(of, out),
            (Value::Text(value), of) if <&str as ToSql>::accepts(of) => value.as_str().to_sql(of, out),
            (Value::Bytes(value), &Type::BYTEA) => value.to_sql(of, out),
            (value, of) => Err(format!("a parameter of type {of} was given {}", value.kind()).into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of the database's as ours.
pub(super) fn read(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let columns = row.columns().iter().enumerate().map(|(at, column)| {
        fn value<'r, T: tokio_postgres::types::FromSql<'r>>(
            row: &'r tokio_postgres::Row,
            at: usize,
            make: impl FnOnce(T) -> Value,
        ) -> Result<Value, tokio_postgres::Error> {
            Ok(row.try_get::<_, Option<T>>(at)?.map_or(Value::Null, make))
        }
        let read = match *column.type_() {
            Type::BOOL => value(row, at, Value::Bool),
            Type::INT8 => value(row, at, Value::Integer),
            Type::INT4 => value::<i32>(row, at, |v| Value::Integer(v.into())),
            Type::INT2 => value::<i16>(row, at, |v| Value::Integer(v.into())),
            Type::FLOAT8 => value(row, at, Value::Real),
            Type::FLOAT4 => value::<f32>(row, at, |v| Value::Real(v.into())),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => value(row, at, Value::Text),
            Type::BYTEA => value(row, at, Value::Bytes),
            ref other => {
                return Err(StoreError::Shape(format!(
                    "column {at} is of type {other}, which no row has: cast it in the statement"
                )));
            }
        };
        read.map_err(|error| StoreError::Shape(format!("column {at}: {error}")))
    });
    Ok(Row::new(columns.collect::<Result<_, _>>()?))
}
