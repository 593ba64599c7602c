//! What is worth knowing of a PostgreSQL server before the load.

use super::admin::PostgresDialect;
use super::request::numbered;
use crate::drive::plan::LoadPlan;
use crate::server::{AdminSession, ServerError, ServerFacts};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::statement::{Statement, StatementKind};
use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint};

/// Settings that change what a load measures; those a version does not know are left out.
const SETTINGS: &[&str] = &[
    "autovacuum",
    "bgwriter_delay",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "default_transaction_isolation",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "jit",
    "lc_collate",
    "log_min_duration_statement",
    "log_statement",
    "max_connections",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "maintenance_work_mem",
    "min_wal_size",
    "random_page_cost",
    "server_encoding",
    "shared_buffers",
    "shared_preload_libraries",
    "synchronous_commit",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "work_mem",
];

/// A look at a server.
pub(super) struct PostgresFactsReader<'a> {
    pub(super) session: AdminSession<'a>,
    /// As [`ServerFacts`] has it.
    pub(super) weak_scram: Option<u64>,
}

impl PostgresFactsReader<'_> {
    /// Everything there is to know. Each connection will prepare `prepared` statements.
    pub(super) fn facts(
        mut self,
        plan: &LoadPlan,
        prepared: u64,
    ) -> Result<ServerFacts, ServerError> {
        self.check_statements(&plan.workload.statements)?;
        let version = self.session.query("SHOW server_version")?;
        let number = version.value().unwrap_or_default().to_owned();
        // `15.18 (Debian 15.18-0+deb12u1)`
        let number = number.split(' ').next().unwrap_or_default();
        let total = prepared * u64::from(plan.concurrency);
        let sql = "SELECT name, current_setting(name) FROM pg_catalog.pg_settings WHERE name";
        Ok(ServerFacts {
            version: format!("PostgreSQL {number}"),
            settings: self.session.settings(sql, SETTINGS)?,
            data_bytes: self.data_bytes(plan)?,
            tls: self.session.admin.encryption(),
            prepared_statements: (total > 0).then_some(total),
            is_pooled: self.session.is_pooled("SELECT pg_catalog.pg_backend_pid()"),
            weak_scram: self.weak_scram,
        })
    }

    /// Has the server read every statement, without executing any.
    fn check_statements(&mut self, statements: &[Statement]) -> Result<(), ServerError> {
        for statement in statements {
            let StatementKind::Sql(_) = &statement.kind else { continue };
            let sql = numbered(&statement.kind.pieces());
            let sql = sql.trim_end_matches('\0');
            if !can_be_prepared(sql) {
                continue;
            }
            match self.session.admin.query(&format!("PREPARE dbtime_look AS {sql}")) {
                Ok(_) => {
                    let counted = self.parameters()?;
                    self.session.query("DEALLOCATE dbtime_look")?;
                    let given = statement.kind.pieces().len() - 1;
                    if let Some(counted) = counted.filter(|counted| *counted != given) {
                        let failure = DatabaseFailure::parameters("42P02", "42P02", counted, given);
                        return Err(self.session.unfit(&statement.name, sql, failure.into()));
                    }
                }
                Err(failure) => return Err(self.session.unfit(&statement.name, sql, failure)),
            }
        }
        Ok(())
    }

    /// How many parameters the server sees in the statement that it has just read. `None`: another
    /// one was asked, as behind a pooler of transactions.
    fn parameters(&mut self) -> Result<Option<usize>, ServerError> {
        let sql = "SELECT coalesce(array_length(parameter_types, 1), 0) \
                   FROM pg_catalog.pg_prepared_statements WHERE name = 'dbtime_look'";
        let rows = self.session.query(sql)?;
        Ok(rows.value().and_then(|text| text.parse().ok()))
    }

    fn data_bytes(&mut self, plan: &LoadPlan) -> Result<Option<u64>, ServerError> {
        let sql = "SELECT SUM(pg_total_relation_size(oid)) FROM pg_catalog.pg_class \
                   WHERE relkind = 'r' AND pg_table_is_visible(oid) AND relname";
        self.session.table_bytes(&plan.workload.tables, &PostgresDialect, sql)
    }
}

/// What statements begin with that the SQL statement PREPARE does not take: it takes queries and
/// changes of rows (manual, "PREPARE"; `gram.y`). Others are known to be wrong when they are
/// executed.
const UNPREPARED: &str = "abort alter analyse analyze begin call checkpoint close cluster comment \
    commit copy create deallocate declare discard do drop end execute explain fetch grant import \
    listen load lock move notify prepare reassign refresh reindex release repack reset revoke \
    rollback savepoint security set show start truncate unlisten vacuum wait";

/// Whether PREPARE takes such a statement, which may begin with a comment.
fn can_be_prepared(sql: &str) -> bool {
    let mut shape = String::new();
    fingerprint(sql, &LexicalRules::unknown(SqlDialect::Postgres), &mut shape);
    let begin = shape.trim_start_matches(|sign: char| sign == ';' || sign.is_whitespace());
    let is_between = |sign: char| !sign.is_alphanumeric() && sign != '_';
    let word = begin.split(is_between).next().unwrap_or_default();
    !UNPREPARED.split(' ').any(|other| other.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::AdminConnection;
    use crate::socket::QueryTable as Rows;
    use dbtime_load::program::SqlValue;
    use dbtime_load::workload::WorkloadTable;
    use dbtime_model::{MonoNanos, OperationId};
    use std::ops::Range;

    /// A server that counts parameters so, and takes everything. It let its connections in as
    /// number 7.
    struct CountingAdmin(Option<&'static str>);

    impl AdminConnection for CountingAdmin {
        fn query(&mut self, sql: &str) -> Result<(Rows, u64), Box<DatabaseFailure>> {
            let is_known =
                ["pg_prepared_statements", "pg_backend_pid"].map(|name| sql.contains(name));
            let counted = self.0.filter(|_| is_known.contains(&true));
            let rows = counted.map(|text| vec![Some(text.to_owned())]).into_iter().collect();
            Ok((Rows { rows, ..Rows::default() }, 1))
        }

        fn build(&mut self, _sql: &str) -> Result<u64, Box<DatabaseFailure>> {
            Ok(0)
        }

        fn number(&self) -> Option<u32> {
            Some(7)
        }

        fn encryption(&self) -> String {
            String::new()
        }

        fn send(&mut self, _sql: &str) {}

        fn answer_by(
            &mut self,
            _until: MonoNanos,
        ) -> Option<Result<(Rows, u64), Box<DatabaseFailure>>> {
            None
        }

        fn load_rows(
            &mut self,
            _table: &WorkloadTable,
            _rows: Range<u64>,
            _fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
            _progress: &mut dyn FnMut(u64) -> bool,
        ) -> Result<(), Box<DatabaseFailure>> {
            Ok(())
        }
    }

    /// What comes of a look at a statement with one parameter.
    fn looked(counted: Option<&'static str>) -> Result<(), String> {
        let kind = StatementKind::Sql("SELECT a FROM t WHERE id = ?1".to_owned());
        let statement = Statement { operation: OperationId(0), name: "fetch".to_owned(), kind };
        let mut reader = PostgresFactsReader {
            session: AdminSession { target: "postgres://h", admin: &mut CountingAdmin(counted) },
            weak_scram: None,
        };
        reader.check_statements(&[statement]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pooler_is_known_by_the_number_that_it_gives_out() {
        let is_pooled = |number| {
            let admin = &mut CountingAdmin(number);
            let mut session = AdminSession { target: "postgres://h", admin };
            session.is_pooled("SELECT pg_catalog.pg_backend_pid()")
        };
        // The lower half of 2^32 + 7 is 7.
        assert_eq!(
            [Some("7"), Some("4294967303"), Some("8"), None].map(is_pooled),
            [false, false, true, false]
        );
    }

    #[test]
    fn statements_that_prepare_does_not_take_are_known() {
        for sql in [
            "COMMENT ON TABLE t1 IS 'x'",
            "comment on table t1 is null",
            "-- why\nCOMMENT ON TABLE t1 IS 'x'",
            "/* why /* nested */ */ VACUUM t1",
            "; LISTEN c",
            "SECURITY LABEL ON TABLE t1 IS 'x'",
            "REFRESH MATERIALIZED VIEW v",
            "REASSIGN OWNED BY a TO b",
            "IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c",
            "DECLARE c CURSOR FOR SELECT 1",
            "START TRANSACTION",
            "RELEASE SAVEPOINT s",
            "DO $$BEGIN END$$",
            "CHECKPOINT",
        ] {
            assert!(!can_be_prepared(sql), "{sql}");
        }
        for sql in [
            "SELECT 1",
            "(SELECT 1) UNION SELECT 2",
            "WITH a AS (SELECT 1) TABLE a",
            "-- COMMENT\nVALUES (1)",
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DO NOTHING",
            "SELEC 1",
            "DO_X",
            "",
        ] {
            assert!(can_be_prepared(sql), "{sql}");
        }
    }

    #[test]
    fn parameters_that_nobody_could_count_are_no_error() {
        assert_eq!([looked(Some("1")), looked(None)], [Ok(()), Ok(())]);
        let error = looked(Some("2")).expect_err("one more than are given");
        assert!(error.contains("sees in it: 2; that are given a value: 1"), "{error}");
    }
}
