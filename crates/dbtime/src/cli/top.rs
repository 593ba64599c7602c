//! Flags of `dbtime top`.

use super::login::LoginArgs;
use super::trace::ServersArgs;
use clap::Args;
use dbtime_model::Nanos;

/// Reads how long an interval is.
fn interval(text: &str) -> Result<Nanos, String> {
    let length: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    match (Nanos(100_000_000)..=Nanos(3_600_000_000_000)).contains(&length) {
        true => Ok(length),
        false => Err("it takes 100ms to 1h".to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  dbtime top
      every MariaDB, MySQL and PostgreSQL on this machine
  dbtime top -p mariadbd --every 1s
      one server, updated every second
  dbtime top --login mysql://root@/?socket=/run/mysqld/mysqld.sock
      with the holders of locks that others wait for, in the third view";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) servers: ServersArgs,

    #[command(flatten)]
    pub(crate) login: LoginArgs,

    /// Interval between two screens; each shows the figures of one interval.
    #[arg(long, value_name = "TIME", value_parser = interval, default_value = "2s")]
    pub(crate) every: Nanos,

    /// Show the literals of statements, which may be secrets [default: ? in place of literals].
    #[arg(long)]
    pub(crate) raw_sql: bool,
}
