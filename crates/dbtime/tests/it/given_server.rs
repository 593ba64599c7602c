//! A server that runs while several commands use it, and can be treated badly.

use crate::sandbox::{DISK, PATIENCE};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::socket::{ExchangeBound, QueryTable};
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::{Nanos, Product};
use std::fmt::Display;
#[cfg(feature = "versions")]
use std::path::Path;
use std::time::{Duration, Instant};

/// Servers of these products are installed wherever the tests run.
pub(crate) const PRODUCTS: [Product; 2] = [Product::Mariadb, Product::Postgres];

/// Settings with which row locks are waited for as long as it takes: what a test does meanwhile,
/// such as attaching, may take longer than servers have their clients wait.
pub(crate) fn patient(product: Product) -> &'static [(&'static str, &'static str)] {
    match product {
        Product::Postgres => &[],
        _ => &[("innodb_lock_wait_timeout", "900")],
    }
}

/// As long as anything in a test may take.
pub(crate) fn patient_bound() -> ExchangeBound {
    ExchangeBound::within(Nanos::from_secs(900))
}

/// A server with a database `d`.
pub(crate) struct GivenServer {
    pub(crate) server: PrivateServer,
    product: Product,
    /// What a tracer says that it cannot measure of it.
    pub(crate) not_measured: &'static str,
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

impl GivenServer {
    /// Starts one; `settings` are its own.
    pub(crate) fn start(product: Product, settings: &[(&str, &str)]) -> Self {
        Self::of(ServerRequest { settings: owned(settings), ..ServerRequest::new(product) })
    }

    /// One that waits for a disk.
    pub(crate) fn on_disk(product: Product, settings: &[(&str, &str)]) -> Self {
        let data = Some(DISK.into());
        Self::of(ServerRequest { settings: owned(settings), data, ..ServerRequest::new(product) })
    }

    /// The same of what is installed in `prefix`.
    #[cfg(feature = "versions")]
    pub(crate) fn start_in(product: Product, prefix: &Path, settings: &[(&str, &str)]) -> Self {
        let (prefix, settings) = (Some(prefix.to_owned()), owned(settings));
        let data = Some(DISK.into());
        Self::of(ServerRequest { prefix, settings, data, ..ServerRequest::new(product) })
    }

    fn of(request: ServerRequest) -> Self {
        let product = request.product;
        let server = PrivateServer::start(&request, &|_| {}, &RunStop::default());
        let given = Self { server: server.expect("a server starts"), product, not_measured: "" };
        given.sql_in(None, "CREATE DATABASE d");
        given
    }

    /// As `--target` takes it.
    pub(crate) fn target(&self) -> String {
        self.target_as(self.server.user(), "", "d")
    }

    /// The same for another user and database; `login` is what follows the user, of which the
    /// server's own needs none here.
    pub(crate) fn target_as(&self, user: &str, login: &str, database: &str) -> String {
        let socket = self.server.socket().display();
        let login = self.login_of(user, login);
        match self.product {
            Product::Postgres => {
                let folder = self.server.socket().parent().expect("a folder").display();
                let port = self.server.port();
                format!("postgres://{user}{login}@:{port}/{database}?host={folder}")
            }
            _ => format!("mysql://{user}{login}@/{database}?socket={socket}"),
        }
    }

    /// The same over TCP.
    pub(crate) fn target_tcp(&self) -> String {
        self.target_tcp_as(self.server.user(), "")
    }

    /// The same for another user.
    pub(crate) fn target_tcp_as(&self, user: &str, login: &str) -> String {
        self.target_at(user, login, format_args!("127.0.0.1:{}", self.server.port()))
    }

    /// The same where something else passes on what arrives.
    pub(crate) fn target_at(&self, user: &str, login: &str, at: impl Display) -> String {
        let scheme = if self.product == Product::Postgres { "postgres" } else { "mysql" };
        format!("{scheme}://{user}{}@{at}/d", self.login_of(user, login))
    }

    fn login_of(&self, user: &str, login: &str) -> String {
        match user == self.server.user() && login.is_empty() {
            true => format!(":{}", self.server.password().reveal()),
            false => login.to_owned(),
        }
    }

    /// Executes a statement in the database `d`; returns its rows.
    pub(crate) fn sql(&self, sql: &str) -> QueryTable {
        self.sql_in(Some("d"), sql)
    }

    /// Waits until so many of its sessions wait for locks, as it says itself.
    pub(crate) fn until_waiting(&self, number: usize) {
        let sql = match self.product {
            Product::Postgres => "SELECT count(*) FROM pg_locks WHERE NOT granted",
            _ => "SELECT count(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'",
        };
        let begun = Instant::now();
        while self.sql(sql).rows[0][0].as_deref() != Some(&*number.to_string()) {
            assert!(begun.elapsed() < PATIENCE, "not {number} wait for locks");
            // InnoDB gives the same answer until nobody has asked for a tenth of a second.
            std::thread::sleep(Duration::from_millis(150));
        }
    }

    fn sql_in(&self, database: Option<&str>, sql: &str) -> QueryTable {
        let mut server = self.server.server();
        if let Some(database) = database {
            server = server.with_database(database);
        }
        let mut admin = server.connect(&patient_bound()).expect("it lets us in");
        admin.query(sql).unwrap_or_else(|failure| panic!("{sql}: {failure:?}")).0
    }
}
