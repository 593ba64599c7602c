//! What belongs to a product: its dialect and its queries.

use super::dialect::CounterDialect;
use super::query::{CounterQuery, ServerVersion};
use super::{global_status, postgres, sqlite};
use dbtime_model::{Product, SqlDialect};

/// The dialect of a database.
pub(super) fn dialect(product: Product) -> &'static CounterDialect {
    match product.dialect() {
        SqlDialect::Mysql => &global_status::DIALECT,
        SqlDialect::Postgres => &postgres::DIALECT,
        SqlDialect::Sqlite => &sqlite::DIALECT,
    }
}

/// What to ask a server of that product and version for a sample of its counters.
pub fn queries(product: Product, version: ServerVersion) -> Vec<CounterQuery> {
    match product.dialect() {
        SqlDialect::Mysql => vec![global_status::query()],
        SqlDialect::Postgres => postgres::queries(version),
        // It has no server to be asked.
        SqlDialect::Sqlite => Vec::new(),
    }
}
