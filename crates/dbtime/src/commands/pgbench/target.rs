//! From pgbench's connection options to the target they name.

use crate::exit::CommandFailure;
use crate::foreign;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::server::url::{ServerUrl, is_keywords, keyword_pairs};
use dbtime_model::SqlDialect;
use dbtime_model::secret_text::first_word;
use dbtime_script::pgbench::options::{CommonOptions, ConnectionOptions};
use std::path::PathBuf;

/// Where the tables are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PgbenchPlace {
    /// The target's text, its password included: for the lab's eyes only.
    pub(super) target: ServerSecret,
    pub(super) dialect: SqlDialect,
    /// Whether the target is there before the run and after it.
    pub(super) is_given: bool,
    /// The file that it is, where it is one.
    pub(super) file: Option<PathBuf>,
    /// The database as messages call it.
    pub(super) database: String,
}

impl PgbenchPlace {
    pub(super) fn of(common: &CommonOptions) -> Result<Self, CommandFailure> {
        let CommonOptions { connection, own, .. } = common;
        let Some(target) = &own.target else { return Self::by_connection(connection) };
        if *connection != ConnectionOptions::default() {
            return Err(CommandFailure::usage(
                "--target names server and database: leave out -h, -p, -U and DBNAME",
            ));
        }
        let scheme = target.split([':', '?']).next().unwrap_or(target);
        let dialect = foreign::dialect(target);
        let path = target.strip_prefix("sqlite:").and_then(|rest| rest.split('?').next());
        let path = path.filter(|path| !path.is_empty());
        let is_given = target.contains("://") || is_keywords(target) || path.is_some();
        let database = match ServerUrl::read(target) {
            Ok(url) => url.database.clone().or_else(|| url.parameter("dbname")).unwrap_or_default(),
            Err(_) => path.map_or_else(|| first_word(scheme), str::to_owned),
        };
        let (file, target) = (path.map(PathBuf::from), ServerSecret::new(target));
        Ok(Self { target, dialect, is_given, file, database })
    }

    /// A connection string says more than the options beside it, as libpq has it.
    fn by_connection(connection: &ConnectionOptions) -> Result<Self, CommandFailure> {
        let ConnectionOptions { host, port, user, dbname } = connection;
        let port_is_bad = port.as_ref().is_some_and(|port| !port.parse().is_ok_and(|n: u16| n > 0));
        if let (Some(port), true) = (port, port_is_bad) {
            return Err(CommandFailure::usage(format!("invalid port number: \"{port}\"")));
        }
        let named = dbname.as_deref().unwrap_or_default();
        let mut url = match named {
            named if named.starts_with("postgres://") || named.starts_with("postgresql://") => {
                ServerUrl::parse(named).map_err(CommandFailure::usage)?
            }
            named => ServerUrl { parameters: pairs(named)?, ..ServerUrl::default() },
        };
        url.scheme = "postgres".to_owned();
        // Of two values the target takes the later one.
        let own = [("host", host), ("port", port), ("user", user)];
        // To libpq an option that is empty is none, in contrast to a parameter of a URL.
        let is_set = |value: &String| !value.is_empty();
        let own =
            own.into_iter().filter_map(|(name, value)| Some((name, value.clone().filter(is_set)?)));
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let is_in_url = |name: &str| match name {
            "host" => url.host.is_some(),
            "port" => url.port.is_some(),
            _ => url.user.is_some(),
        };
        let own: Vec<_> = own.filter(|(name, _)| !is_in_url(name)).collect();
        url.parameters.splice(0..0, own);
        // Where neither target nor environment names it.
        let name = ("fallback_application_name".to_owned(), "pgbench".to_owned());
        url.parameters.push(name);
        let database = url.database.clone().or_else(|| url.parameter("dbname"));
        let database = database.or_else(|| usual_database(&url)).unwrap_or_default();
        let (target, dialect) = (ServerSecret::new(url.written()), SqlDialect::Postgres);
        Ok(Self { target, dialect, is_given: true, file: None, database })
    }
}

/// The database where none is named: the environment's, or the user's own.
fn usual_database(url: &ServerUrl) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = || url.user.clone().or_else(|| url.parameter("user"));
    variable("PGDATABASE").or_else(user).or_else(|| variable("PGUSER")).or_else(|| variable("USER"))
}

/// The parameters of a name of a database, or of a connection string `host=… dbname='…'`.
fn pairs(text: &str) -> Result<Vec<(String, String)>, CommandFailure> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if !text.contains('=') {
        return Ok(vec![("dbname".to_owned(), text.to_owned())]);
    }
    keyword_pairs(text).map_err(CommandFailure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_script::pgbench::options::{PgbenchCommand, read};

    fn of(line: &[&str]) -> Result<PgbenchPlace, String> {
        let words = line.iter().map(|word| (*word).to_owned());
        let Ok(PgbenchCommand::Benchmark(run)) = read(words) else { panic!("{line:?}") };
        PgbenchPlace::of(&run.common).map_err(|failure| format!("{failure:?}"))
    }

    fn target(line: &[&str]) -> String {
        of(line).expect("a place").target.reveal().to_owned()
    }

    #[test]
    fn servers_are_named_as_pgbench_names_them() {
        assert_eq!(target(&[]), "postgres:///?fallback_application_name=pgbench");
        assert_eq!(
            target(&["-h", "/run/x", "-p", "5433", "-U", "u", "d"]),
            "postgres:///?host=/run/x&port=5433&user=u&dbname=d\
             &fallback_application_name=pgbench"
        );
        assert_eq!(
            target(&["-h", "a", "postgres://u:p@b/d"]),
            "postgres://u:p@b/d?fallback_application_name=pgbench",
            "a URL says more than what stands beside it"
        );
        assert_eq!(
            target(&["-h", "a", "-U", "u", r"host=b dbname = 'a b' password=p\'q"]),
            "postgres:///?host=a&user=u&host=b&dbname=a%20b&password=p%27q\
             &fallback_application_name=pgbench"
        );
        assert_eq!(
            target(&["-U", "u", "postgres://b/d?password=x"]),
            "postgres://:x@b/d?user=u&fallback_application_name=pgbench"
        );
        assert_eq!(
            target(&["-h", "", "-U", "", "d"]),
            "postgres:///?dbname=d&fallback_application_name=pgbench"
        );
        assert!(of(&["-p", "x"]).expect_err("no port").contains("invalid port number"));
    }

    #[test]
    fn other_databases_are_targets() {
        let place = of(&["--target=sqlite:/x.db?synchronous=off"]).expect("a place");
        assert_eq!((place.dialect, place.is_given), (SqlDialect::Sqlite, true));
        assert_eq!(place.database, "/x.db");
        let place = of(&["--target=host=h dbname=d"]).expect("a place");
        assert_eq!((place.dialect, place.is_given), (SqlDialect::Postgres, true));
        assert_eq!(place.database, "d");
        let place = of(&["--target=mariadb"]).expect("a place");
        assert_eq!((place.dialect, place.is_given), (SqlDialect::Mysql, false));
        assert!(!of(&["--target=sqlite"]).expect("a place").is_given);
        assert!(of(&["--target=sqlite", "d"]).is_err());
    }
}
