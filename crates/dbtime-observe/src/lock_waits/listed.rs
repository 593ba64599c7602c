//! The sessions that a server has, by which connections from before the watching get their ids: the
//! greeting with the id was sent before anybody looked.

use super::rows;
use super::survey::SurveyAnswer;
use crate::counters::ServerVersion;
use dbtime_model::Product;
use dbtime_model::lock_picture::ServerSession;

/// Sessions that are read; further ones stay without ids.
const MAX_SESSIONS: usize = 65_536;

/// A thread says which connection it is only where each has its own.
const OF_MARIADB: &str = "SELECT ID AS id, USER AS user, HOST AS address, DB AS `database`, \
     IF(@@thread_handling = 'one-thread-per-connection', TID, NULL) AS thread \
     FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon'";

/// Clients' ports and sessions without performance_schema are in the older list alone.
const OF_MYSQL: &str = "SELECT p.ID AS id, p.USER AS user, p.HOST AS address, p.DB AS `database`, \
     IF(@@thread_handling = 'one-thread-per-connection', t.THREAD_OS_ID, NULL) AS thread \
     FROM information_schema.PROCESSLIST p \
     LEFT JOIN performance_schema.threads t ON t.PROCESSLIST_ID = p.ID \
     WHERE p.COMMAND <> 'Daemon'";

/// Without threads: clients by TCP are known by their ports.
const BY_PORT: &str = "SELECT ID AS id, USER AS user, HOST AS address, DB AS `database`, \
     NULL AS thread FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon'";

/// What to ask a server for its sessions: the second where the first is refused. Nothing of
/// PostgreSQL, whose processes are its sessions.
pub fn session_lists(product: Product, version: ServerVersion) -> &'static [&'static str] {
    match product {
        Product::Mariadb => &[OF_MARIADB, BY_PORT],
        Product::Mysql if (version.major, version.minor) >= (5, 7) => &[OF_MYSQL, BY_PORT],
        Product::Mysql => &[BY_PORT],
        Product::Postgres | Product::Sqlite => &[],
    }
}

/// The sessions of an answer.
pub fn listed_sessions(SurveyAnswer { columns, rows }: SurveyAnswer<'_>) -> Vec<ServerSession> {
    rows::sessions(columns, rows, MAX_SESSIONS)
}
