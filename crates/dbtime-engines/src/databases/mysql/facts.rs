//! What is worth knowing of a MySQL or MariaDB server before the load.

use super::admin::MysqlDialect;
use crate::drive::plan::LoadPlan;
use crate::server::{AdminSession, ServerDialect, ServerError, ServerFacts};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::statement::StatementKind;
use dbtime_model::WireProtocol;
use std::collections::BTreeMap;

/// Settings that change what a load measures; those a server does not know are left out.
const SETTINGS: &[&str] = &[
    "autocommit",
    "back_log",
    "binlog_format",
    "character_set_server",
    "default_storage_engine",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_page_size",
    "innodb_spin_wait_delay",
    "innodb_sync_spin_loops",
    "innodb_thread_concurrency",
    "log_bin",
    "max_connections",
    "max_prepared_stmt_count",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "slow_query_log",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    "transaction_isolation",
    "tx_isolation",
    "version_comment",
];

/// How a version of the server limits the time of a statement.
pub(super) enum StatementLimit {
    /// A variable in seconds.
    Seconds(&'static str),
    /// A variable in milliseconds; it only holds for SELECT.
    Millis(&'static str),
}

/// The variable that limits the time of a statement: MariaDB from 10.1, MySQL from 5.7.
pub(super) fn statement_limit(version: &str) -> Option<StatementLimit> {
    let mut numbers = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let at = (numbers.next()?, numbers.next()?);
    if version.contains("MariaDB") {
        return (at >= (10, 1)).then_some(StatementLimit::Seconds("max_statement_time"));
    }
    (at >= (5, 7)).then_some(StatementLimit::Millis("max_execution_time"))
}

/// A look at a server.
pub(super) struct MysqlFactsReader<'a> {
    pub(super) session: AdminSession<'a>,
    /// As the server says it.
    pub(super) version: &'a str,
    /// Whether statements are to be sent ahead.
    pub(super) pipelines: bool,
}

impl MysqlFactsReader<'_> {
    /// Everything there is to know. Each connection will prepare `prepared` statements.
    pub(super) fn facts(
        mut self,
        plan: &LoadPlan,
        prepared: u64,
    ) -> Result<ServerFacts, ServerError> {
        let settings = self.session.settings("SHOW VARIABLES WHERE Variable_name", SETTINGS)?;
        let total = prepared * u64::from(plan.concurrency);
        self.check_prepared(&settings, total)?;
        self.check_isolation(&settings)?;
        self.check_statements(plan)?;
        let product = WireProtocol::Mysql.product(self.version);
        let number = self.version.split("-MariaDB").next().unwrap_or(self.version);
        Ok(ServerFacts {
            version: format!("{product} {number}"),
            settings,
            data_bytes: self.data_bytes(plan)?,
            tls: self.session.admin.encryption(),
            prepared_statements: (total > 0).then_some(total),
            is_pooled: self.session.is_pooled("SELECT CONNECTION_ID()"),
            weak_scram: None,
        })
    }

    /// The server holds a limited number of prepared statements, over all connections.
    fn check_prepared(
        &mut self,
        settings: &BTreeMap<String, String>,
        total: u64,
    ) -> Result<(), ServerError> {
        let Some(limit) = settings.get("max_prepared_stmt_count").and_then(|n| n.parse().ok())
        else {
            return Ok(());
        };
        let status = self.session.query("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")?;
        let value = status.rows.first().and_then(|row| row.get(1).cloned().flatten());
        let used: u64 = value.and_then(|text| text.parse().ok()).unwrap_or(0);
        if total + used <= limit {
            return Ok(());
        }
        let message = format!(
            "this run would have {total} statements prepared, {used} are there, and the server \
             holds {limit}; raise max_prepared_stmt_count, use fewer connections, or \
             --protocol text"
        );
        let failure = DatabaseFailure {
            undone: true,
            ..DatabaseFailure::statement("1461", "42000", message)
        };
        Err(self.session.refused("too many prepared statements".to_owned(), Box::new(failure)))
    }

    /// Reads that lock may meet a deadlock, which ends their transaction; what was sent ahead would
    /// then be executed outside of it.
    fn check_isolation(&self, settings: &BTreeMap<String, String>) -> Result<(), ServerError> {
        let level = ["transaction_isolation", "tx_isolation"].iter().find_map(|n| settings.get(*n));
        if !self.pipelines || level.is_none_or(|level| level != "SERIALIZABLE") {
            return Ok(());
        }
        let why = "--pipeline cannot be used: its transactions are SERIALIZABLE, where every SELECT \
                   locks and may end its transaction, so that nothing can be sent ahead; leave out \
                   --pipeline, or set transaction_isolation to another level";
        Err(ServerError::Unsuited { target: self.session.target.to_owned(), why })
    }

    /// Has the server read every statement, without executing any.
    fn check_statements(&mut self, plan: &LoadPlan) -> Result<(), ServerError> {
        for statement in &plan.workload.statements {
            let StatementKind::Sql(_) = &statement.kind else { continue };
            let sql = statement.kind.pieces().join("?");
            let text = MysqlDialect.text(&sql);
            match self.session.admin.query(&format!("PREPARE dbtime_look FROM {text}")) {
                Ok(_) => {
                    self.session.query("DEALLOCATE PREPARE dbtime_look")?;
                }
                // Not everything that can be executed can be prepared.
                Err(failure) if failure.code == "1295" => {}
                Err(failure) => return Err(self.session.unfit(&statement.name, &sql, failure)),
            }
        }
        Ok(())
    }

    fn data_bytes(&mut self, plan: &LoadPlan) -> Result<Option<u64>, ServerError> {
        let sql = "SELECT SUM(data_length + index_length) FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_name";
        self.session.table_bytes(&plan.workload.tables, &MysqlDialect, sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_limit_statements_their_own_way() {
        let name = |version: &str| match statement_limit(version) {
            Some(StatementLimit::Seconds(name) | StatementLimit::Millis(name)) => name,
            None => "",
        };
        assert_eq!(name("10.11.19-MariaDB-0+deb12u1"), "max_statement_time");
        assert_eq!(name("10.0.1-MariaDB"), "");
        assert_eq!(name("5.5.9"), "");
        assert_eq!(name("9.7.4-2"), "max_execution_time");
        assert_eq!(name("garbage"), "");
    }
}
