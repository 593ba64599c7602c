//! MariaDB and MySQL: InnoDB's waits for rows, waits for metadata where somebody keeps account of
//! them, and the sessions.

use super::source::{LockSource, RowKind};
use crate::counters::ServerVersion;
use dbtime_model::Product;

/// How long a login may wait, and that it is not let go because it is silent while nobody waits.
pub(super) fn settings(product: Product, version: ServerVersion) -> Vec<&'static str> {
    let mut settings = vec!["SET SESSION wait_timeout = 31536000"];
    let number = (version.major, version.minor);
    match product {
        Product::Mariadb if number >= (10, 1) => {
            settings.push("SET SESSION max_statement_time = 1")
        }
        Product::Mariadb => {}
        _ if number >= (5, 7) => settings.push("SET SESSION max_execution_time = 1000"),
        _ => {}
    }
    settings
}

pub(super) fn sources(product: Product, version: ServerVersion) -> Vec<LockSource> {
    let number = (version.major, version.minor);
    let mut sources = match product {
        Product::Mariadb if number >= (10, 5) => {
            let schema = LockSource { instead: None, lacks: "", ..METADATA_OF_MYSQL };
            vec![INNODB_WAITS, METADATA_OF_MARIADB, schema, SESSIONS_OF_MARIADB]
        }
        Product::Mariadb => vec![INNODB_WAITS, METADATA_OF_MARIADB, SESSIONS_OF_MARIADB],
        _ if version.major >= 8 => vec![DATA_LOCK_WAITS, METADATA_OF_MYSQL, SESSIONS_OF_MYSQL],
        _ if number >= (5, 7) => {
            vec![INNODB_WAITS, METADATA_OF_MYSQL, SESSIONS_OF_MYSQL]
        }
        _ => vec![INNODB_WAITS, METADATA_UNKNOWN, SESSIONS_BEFORE],
    };
    if number >= (5, 6) {
        sources.push(STATEMENTS);
    }
    sources
}

/// What the errors mean that come of a missing privilege: of `PROCESS`, and of SELECT on a table.
pub(super) const FORBIDDEN: [&str; 4] = ["1227", "1142", "1044", "1045"];

/// What gives the right.
pub(super) const REMEDY: &str =
    "the login lacks a privilege: GRANT PROCESS ON *.* and GRANT SELECT ON performance_schema.*";

/// Waits for rows until MySQL 8.0 took these tables away, and in every MariaDB.
const INNODB_WAITS: LockSource = claims(
    "SELECT r.trx_mysql_thread_id AS waiter, b.trx_mysql_thread_id AS holder, \
     'row lock' AS `lock`, REPLACE(l.lock_table, '`', '') AS object, \
     TIMESTAMPDIFF(MICROSECOND, r.trx_wait_started, NOW(6)) / 1000000 AS waited \
     FROM information_schema.INNODB_LOCK_WAITS w \
     JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
     JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id \
     LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id \
     ORDER BY r.trx_wait_started LIMIT 1000",
    None,
    "who holds rows is not known",
);

const DATA_LOCK_WAITS: LockSource = claims(
    "SELECT r.PROCESSLIST_ID AS waiter, b.PROCESSLIST_ID AS holder, 'row lock' AS `lock`, \
     CONCAT(l.OBJECT_SCHEMA, '.', l.OBJECT_NAME) AS object, \
     TIMESTAMPDIFF(MICROSECOND, t.trx_wait_started, NOW(6)) / 1000000 AS waited \
     FROM performance_schema.data_lock_waits w \
     JOIN performance_schema.threads r ON r.THREAD_ID = w.REQUESTING_THREAD_ID \
     JOIN performance_schema.threads b ON b.THREAD_ID = w.BLOCKING_THREAD_ID \
     LEFT JOIN performance_schema.data_locks l \
     ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID \
     LEFT JOIN information_schema.INNODB_TRX t \
     ON t.trx_mysql_thread_id = r.PROCESSLIST_ID LIMIT 1000",
    None,
    "who holds rows is not known",
);

/// Of metadata the plugin knows only who has it: one that waits says for what kind, and its
/// statement names the table. The holder of one kind of lock without a name may be anybody who has
/// one.
const METADATA_OF_MARIADB: LockSource = claims(
    "SELECT p.ID AS waiter, m.THREAD_ID AS holder, LOWER(p.`lock`) AS `lock`, \
     IF(p.`lock` = 'user lock', NULL, CONCAT_WS('.', NULLIF(m.TABLE_SCHEMA, ''), \
     NULLIF(m.TABLE_NAME, ''))) AS object, p.TIME_MS / 1000 AS waited \
     FROM (SELECT ID, TIME_MS, INFO, LOWER(REPLACE(STATE, 'Waiting for ', '')) AS `lock` \
     FROM information_schema.PROCESSLIST WHERE (STATE LIKE 'Waiting for%lock' \
     OR STATE = 'User lock') AND COMMAND <> 'Daemon' ORDER BY TIME_MS DESC LIMIT 100) p \
     LEFT JOIN information_schema.METADATA_LOCK_INFO m ON m.THREAD_ID <> p.ID \
     AND LOWER(m.LOCK_TYPE) = p.`lock` \
     AND LOCATE(IF(p.`lock` = 'user lock', m.TABLE_SCHEMA, m.TABLE_NAME), p.INFO) > 0 \
     ORDER BY p.TIME_MS DESC LIMIT 1000",
    Some(METADATA_WAITERS),
    "who holds metadata and user locks is not known without a plugin: \
     INSTALL SONAME 'metadata_lock_info' helps",
);

/// Waiters alone.
const METADATA_WAITERS: &str = "SELECT ID AS waiter, NULL AS holder, \
     LOWER(REPLACE(STATE, 'Waiting for ', '')) AS `lock`, NULL AS object, TIME AS waited \
     FROM information_schema.PROCESSLIST WHERE (STATE LIKE 'Waiting for%lock' \
     OR STATE = 'User lock') AND COMMAND <> 'Daemon' ORDER BY TIME DESC LIMIT 100";

/// On in MySQL 8, to be switched on in 5.7.
const METADATA_OF_MYSQL: LockSource = claims(
    "SELECT r.PROCESSLIST_ID AS waiter, b.PROCESSLIST_ID AS holder, \
     IF(w.OBJECT_TYPE = 'USER LEVEL LOCK', 'user lock', \
     CONCAT(LOWER(w.OBJECT_TYPE), ' metadata lock')) AS `lock`, \
     IF(w.OBJECT_TYPE = 'USER LEVEL LOCK', NULL, \
     CONCAT_WS('.', w.OBJECT_SCHEMA, w.OBJECT_NAME)) AS object, \
     r.PROCESSLIST_TIME AS waited \
     FROM performance_schema.metadata_locks w \
     JOIN performance_schema.threads r ON r.THREAD_ID = w.OWNER_THREAD_ID \
     LEFT JOIN performance_schema.metadata_locks h ON h.OBJECT_TYPE = w.OBJECT_TYPE \
     AND h.OBJECT_SCHEMA <=> w.OBJECT_SCHEMA AND h.OBJECT_NAME <=> w.OBJECT_NAME \
     AND h.LOCK_STATUS = 'GRANTED' AND h.OWNER_THREAD_ID <> w.OWNER_THREAD_ID \
     LEFT JOIN performance_schema.threads b ON b.THREAD_ID = h.OWNER_THREAD_ID \
     WHERE w.LOCK_STATUS = 'PENDING' ORDER BY r.PROCESSLIST_TIME DESC LIMIT 1000",
    Some(METADATA_WAITERS),
    "who holds metadata locks is not known",
);

const METADATA_UNKNOWN: LockSource =
    claims(METADATA_WAITERS, None, "who waits for metadata locks is not known");

const fn claims(
    sql: &'static str,
    instead: Option<&'static str>,
    lacks: &'static str,
) -> LockSource {
    LockSource { brings: RowKind::Claims, sql, instead, lacks }
}

/// What a session does; one that waits for its client in a transaction is the one to look at.
macro_rules! sessions {
    ($rests:literal, $which:literal, $time:literal, $thread:literal, $joined:literal,
     transacting) => {
        sessions!(
            @ $rests, $which, $time, $thread, $joined,
            "IF(t.trx_started IS NULL, 'idle', 'idle in transaction')",
            "t.trx_state = 'LOCK WAIT'",
            "TIMESTAMPDIFF(MICROSECOND, t.trx_started, NOW(6)) / 1000000",
            " LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID"
        )
    };
    ($rests:literal, $which:literal, $time:literal, $thread:literal, $joined:literal, alone) => {
        sessions!(
            @ $rests, $which, $time, $thread, $joined,
            "'idle'", "FALSE", "NULL", ""
        )
    };
    (@ $rests:literal, $which:literal, $time:literal, $thread:literal, $joined:literal,
     $resting:literal, $waits:literal, $open_for:literal, $transactions:literal) => {
        concat!(
            "SELECT p.ID AS id, p.USER AS user, p.HOST AS address, p.DB AS `database`, IF(",
            $rests,
            ", ",
            $resting,
            ", IF(",
            $waits,
            ", 'Waiting for row lock', COALESCE(NULLIF(p.STATE, ''), p.COMMAND))) AS state, ",
            $time,
            " AS in_state, ",
            $open_for,
            " AS in_transaction, LEFT(p.INFO, 1000) AS statement, ",
            $thread,
            " AS thread FROM information_schema.PROCESSLIST p",
            $joined,
            $transactions,
            " WHERE ",
            $which
        )
    };
}

/// The same of those that have to do with waits.
macro_rules! some_sessions {
    ($time:literal, $thread:literal, $joined:literal, $transacting:ident) => {
        sessions!("p.COMMAND = 'Sleep'", "p.ID IN ({ids})", $time, $thread, $joined, $transacting)
    };
}

/// The same of all: with their threads, without transactions, which take a privilege that a login
/// may lack, and without threads. Who asks is idle, and so are those that send and take the log of
/// changes, which never do anything else.
macro_rules! all_sessions {
    ($time:literal, $thread:literal, $joined:literal) => {
        [
            all_sessions!(@ $time, $thread, $joined, transacting),
            all_sessions!(@ $time, $thread, $joined, alone),
            ALL_BY_PORT,
        ]
    };
    (@ $time:literal, $thread:literal, $joined:literal, $transacting:ident) => {
        sessions!(
            "p.COMMAND IN ('Sleep', 'Connect', 'Binlog Dump', 'Binlog Dump GTID', 'Slave_IO', \
             'Slave_SQL', 'Slave_worker') OR p.USER = 'system user' OR p.ID = CONNECTION_ID()",
            "p.COMMAND <> 'Daemon'",
            $time,
            $thread,
            $joined,
            $transacting
        )
    };
}

/// Without INNODB_TRX, which a login may not be allowed to read.
const SESSIONS_ALONE: &str = some_sessions!("p.TIME", "NULL", "", alone);

const SESSIONS_OF_MARIADB: LockSource =
    sessions(some_sessions!("p.TIME_MS / 1000", "p.TID", "", transacting));

const SESSIONS_OF_MYSQL: LockSource = sessions(some_sessions!(
    "p.TIME",
    "o.THREAD_OS_ID",
    " LEFT JOIN performance_schema.threads o ON o.PROCESSLIST_ID = p.ID",
    transacting
));

/// No word of threads, and INNODB_TRX from 5.5 on.
const SESSIONS_BEFORE: LockSource = sessions(some_sessions!("p.TIME", "NULL", "", transacting));

const fn sessions(sql: &'static str) -> LockSource {
    let lacks = "whose sessions these are is not known";
    LockSource { brings: RowKind::Sessions, sql, instead: Some(SESSIONS_ALONE), lacks }
}

/// One says which connection it is only where each has its own.
pub(super) const ALL_OF_MARIADB: [&str; 3] = all_sessions!(
    "p.TIME_MS / 1000",
    "IF(@@thread_handling = 'one-thread-per-connection', p.TID, NULL)",
    ""
);

/// Clients' ports and sessions without performance_schema are in the older list alone.
pub(super) const ALL_OF_MYSQL: [&str; 3] = all_sessions!(
    "p.TIME",
    "IF(@@thread_handling = 'one-thread-per-connection', o.THREAD_OS_ID, NULL)",
    " LEFT JOIN performance_schema.threads o ON o.PROCESSLIST_ID = p.ID"
);

/// Without threads: clients by TCP are known by their ports.
pub(super) const ALL_BY_PORT: &str = all_sessions!(@ "p.TIME", "NULL", "", alone);

/// The last ones of sessions that do nothing: where performance_schema is off, it has none.
const STATEMENTS: LockSource = LockSource {
    brings: RowKind::Statements,
    sql: "SELECT t.PROCESSLIST_ID AS id, LEFT(s.SQL_TEXT, 1000) AS statement \
          FROM performance_schema.threads t \
          JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID \
          WHERE t.PROCESSLIST_ID IN ({ids})",
    instead: None,
    lacks: "",
};
