//! What belongs to a product: its dialect and its queries.

use super::dialect::CounterDialect;
use super::query::{CounterQuery, ServerVersion};
use super::{global_status, postgres, sqlite};
use dbtime_model::Product;

/// The dialect of a database.
pub(super) fn dialect(product: Product) -> &'static CounterDialect {
    match product {
        Product::Mysql | Product::Mariadb => &global_status::DIALECT,
        Product::Postgres => &postgres::DIALECT,
        Product::Sqlite => &sqlite::DIALECT,
    }
}

/// What to ask a server of that product and version for a sample of its counters.
pub fn queries(product: Product, version: ServerVersion) -> Vec<CounterQuery> {
    match product {
        Product::Mysql | Product::Mariadb => vec![global_status::query()],
        Product::Postgres => postgres::queries(version),
        // It has no server to be asked.
        Product::Sqlite => Vec::new(),
    }
}
