//! Flags of a login to a server that is watched.

use clap::Args;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_lab::tracing::HolderOptions;
use dbtime_model::Nanos;

/// Reads how long somebody has to wait: not so short that every wait makes a question.
fn patience(text: &str) -> Result<Nanos, String> {
    let length: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    match (Nanos::from_millis(100)..=Nanos::from_secs(3600)).contains(&length) {
        true => Ok(length),
        false => Err("it takes 100ms to 1h".to_owned()),
    }
}

/// Who is asked who holds locks, and when.
#[derive(Args, Debug)]
pub(crate) struct LoginArgs {
    /// Log in to this server and show the holders of locks that others wait for:
    /// mysql://USER@HOST/, mariadb://... or postgres://... (passwords: ~/.my.cnf, MYSQL_PWD,
    /// ~/.pgpass, PGPASSWORD). Queries it only during lock waits.
    #[arg(long, value_name = "URL")]
    pub(crate) login: Option<String>,

    /// Query the server of --login when a lock wait has lasted this long: 100ms to 1h.
    #[arg(long, value_name = "TIME", value_parser = patience, default_value = "1s")]
    pub(crate) login_after: Nanos,
}

impl LoginArgs {
    /// What is asked of the server, and when.
    pub(crate) fn options(&self, keeps_literals: bool) -> HolderOptions {
        let login = self.login.as_deref().map(ServerSecret::new);
        HolderOptions { login, threshold: self.login_after, keeps_literals }
    }
}
