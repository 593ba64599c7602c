//! A client of either protocol, for locks that are held and waited for.

use crate::given_server::GivenServer;
use crate::raw_client::RawClient;
use crate::raw_postgres::RawPostgres;
use dbtime_model::Product;

pub(crate) enum LockClient {
    Mysql(RawClient),
    Postgres(RawPostgres),
}

impl LockClient {
    /// Logs in to the database `d` of MySQL's, or to `postgres`.
    pub(crate) fn connect(product: Product, server: &GivenServer) -> Self {
        match product {
            Product::Postgres => Self::Postgres(RawPostgres::connect(server)),
            _ => {
                let mut client = RawClient::connect(server);
                client.query("USE d");
                Self::Mysql(client)
            }
        }
    }

    /// Sends a statement and does not wait.
    pub(crate) fn send(&mut self, sql: &str) {
        match self {
            Self::Mysql(client) => client.ask(sql),
            Self::Postgres(client) => client.ask(sql),
        }
    }

    /// An answer without rows of MySQL's, or any of PostgreSQL's; also an error.
    pub(crate) fn answered(&mut self) {
        match self {
            Self::Mysql(client) => _ = client.packet(),
            Self::Postgres(client) => _ = client.answered(),
        }
    }

    pub(crate) fn query(&mut self, sql: &str) {
        self.send(sql);
        self.answered();
    }

    /// A statement that says which connection this is.
    pub(crate) fn sign(&mut self, name: &str) {
        let sql = match self {
            Self::Mysql(_) => format!("DO '{name}'"),
            Self::Postgres(_) => format!("SELECT '{name}'"),
        };
        self.query(&sql);
    }
}
