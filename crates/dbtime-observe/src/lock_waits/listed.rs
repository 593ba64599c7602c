//! The sessions that a server has, with what they are at: connections from before the watching get
//! their ids from it, for the greeting with the id was sent before anybody looked.

use super::survey::SurveyAnswer;
use super::{mysql, postgres, rows};
use crate::counters::ServerVersion;
use dbtime_model::Product;
use dbtime_model::lock_picture::ServerSession;

/// Sessions that are read; further ones stay without ids.
const MAX_SESSIONS: usize = 65_536;

/// What to ask a server for its sessions: the next where one is refused.
pub fn session_lists(product: Product, version: ServerVersion) -> &'static [&'static str] {
    match product {
        Product::Mariadb => &mysql::ALL_OF_MARIADB,
        Product::Postgres if version.major >= 10 => &[postgres::ALL_SESSIONS],
        Product::Postgres => &[postgres::ALL_SESSIONS_BEFORE_10],
        Product::Sqlite => &[],
        _ if (version.major, version.minor) >= (5, 7) => &mysql::ALL_OF_MYSQL,
        _ => &[mysql::ALL_BY_PORT],
    }
}

/// The sessions of an answer.
pub fn listed_sessions(SurveyAnswer { columns, rows }: SurveyAnswer<'_>) -> Vec<ServerSession> {
    let mut sessions = rows::sessions(columns, rows, MAX_SESSIONS);
    let hidden = sessions.iter_mut().filter(|one| one.statement == postgres::HIDDEN);
    hidden.for_each(|one| one.statement.clear());
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_is_asked_for_what_its_sessions_are_at() {
        let products = [
            (Product::Mariadb, "10.11.6-MariaDB"),
            (Product::Mysql, "8.0.36"),
            (Product::Mysql, "5.6.10"),
            (Product::Postgres, "15.18"),
            (Product::Postgres, "9.6.24"),
        ];
        for (product, version) in products {
            let version = ServerVersion::parse(version).expect("a version");
            let lists = session_lists(product, version);
            assert!(!lists.is_empty());
            for sql in lists {
                for column in ["id", "user", "address", "state", "in_state", "statement", "thread"]
                {
                    assert!(sql.contains(&format!(" AS {column}")), "{column} in {sql}");
                }
                assert!(!sql.contains("{ids}"), "{sql}");
            }
        }
    }

    #[test]
    fn statements_that_a_login_may_not_see_are_none() {
        let columns = ["id", "state", "statement"].map(str::to_owned);
        let cells = ["7", "active", postgres::HIDDEN].map(|cell| Some(cell.to_owned()));
        let listed = listed_sessions(SurveyAnswer { columns: &columns, rows: &[cells.to_vec()] });
        assert_eq!((listed[0].id, listed[0].statement.as_str()), (7, ""));
    }
}
