//! Functions whose values change from one execution to the next, or whose effects stay.

use super::tokens::{OutlineToken, is_among};
use crate::lexer::TokenKind;
use dbtime_model::SqlDialect;

/// Functions whose value is another one at each execution, in one transaction too.
const UNSTABLE: &str = "changes clock_timestamp gen_random_bytes gen_random_uuid last_insert_id \
    last_insert_rowid lastval nextval pg_current_wal_lsn pg_stat_get_activity rand random \
    random_bytes random_normal randomblob row_count setval statement_timestamp sys_guid sysdate \
    timeofday total_changes uuid uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 uuid_short \
    uuid_v4 uuid_v7 uuidv4 uuidv7";

/// Functions with effects that a rollback leaves.
const LASTING: &str = "edit get_lock load_extension lo_export nextval pg_cancel_backend \
    pg_create_logical_replication_slot pg_create_physical_replication_slot \
    pg_create_restore_point pg_drop_replication_slot pg_file_rename pg_file_unlink pg_file_write \
    pg_logical_emit_message pg_logical_slot_get_binary_changes pg_logical_slot_get_changes \
    pg_promote pg_reload_conf pg_replication_slot_advance pg_rotate_logfile \
    pg_stat_statements_reset pg_switch_wal pg_switch_xlog pg_terminate_backend \
    pg_wal_replay_pause pg_wal_replay_resume release_all_locks release_lock setval sys_eval \
    sys_exec sys_set writefile";

/// How the names of such functions begin.
const LASTING_BEGINNINGS: [&str; 5] =
    ["dblink", "hypopg_", "pg_advisory_", "pg_stat_reset", "pg_try_advisory_"];

/// Functions that change what a rollback changes back, and that some version executes in a
/// transaction which only reads.
const WRITING: &str = "lo_creat lo_create lo_from_bytea lo_import lo_put lo_truncate lo_truncate64 \
    lo_unlink lowrite pg_notify set_config";

/// How the names of those begin whose locks end with the transaction.
const TRANSACTION_LOCKS: [&str; 2] = ["pg_advisory_xact_", "pg_try_advisory_xact_"];

/// Words behind which a name with a list is that of a table.
const BEFORE_TABLES: [&str; 6] = ["as", "index", "into", "references", "table", "with"];

/// SQLite's instants, which stand still for one execution alone.
const INSTANTS: [&str; 2] = ["current_time", "current_timestamp"];

/// The functions of a statement that are of interest, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct NotedCalls {
    pub(super) unstable: Vec<String>,
    /// The first one whose effects stay.
    pub(super) lasting: Option<String>,
    /// Whether one of them writes what a rollback undoes.
    pub(super) writes: bool,
}

impl NotedCalls {
    /// Reads the tokens of a text.
    pub(super) fn of(tokens: &[OutlineToken<'_>], dialect: Option<SqlDialect>) -> Self {
        let mut noted = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            if is_call(tokens, at) {
                noted.add_call(token.name().unwrap_or_default().to_ascii_lowercase());
            }
            if let Some(what) = unstable_words(&tokens[at..], dialect) {
                noted.add_unstable(what);
            }
            if is_next_value(&tokens[at..]) {
                noted.add_call("nextval".to_owned());
            }
        }
        noted
    }

    fn add_call(&mut self, name: String) {
        if is_among(&name, UNSTABLE) {
            self.add_unstable(&name);
        }
        self.writes |= is_among(&name, WRITING);
        if self.lasting.is_none() && is_lasting(&name) {
            self.lasting = Some(name);
        }
    }

    fn add_unstable(&mut self, what: &str) {
        if !self.unstable.iter().any(|known| known == what) {
            self.unstable.push(what.to_owned());
        }
    }
}

/// Whether a function is called there.
fn is_call(tokens: &[OutlineToken<'_>], at: usize) -> bool {
    let is_table = at > 0 && tokens[at - 1].is_one_of(&BEFORE_TABLES);
    matches!(tokens[at].kind, TokenKind::Word | TokenKind::QuotedName)
        && !is_table
        && tokens.get(at + 1).is_some_and(|next| next.is_symbol(b'('))
}

fn is_lasting(name: &str) -> bool {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|begin| name.starts_with(begin));
    is_among(name, LASTING) || begins(&LASTING_BEGINNINGS) && !begins(&TRANSACTION_LOCKS)
}

/// `NEXT VALUE FOR s` of MariaDB's.
fn is_next_value(tokens: &[OutlineToken<'_>]) -> bool {
    matches!(tokens, [next, value, of, ..]
        if next.is_word("next") && value.is_word("value") && of.is_word("for"))
}

/// What is no function, and yet another value each time.
fn unstable_words(
    tokens: &[OutlineToken<'_>],
    dialect: Option<SqlDialect>,
) -> Option<&'static str> {
    let first = tokens.first()?;
    match dialect {
        Some(SqlDialect::Sqlite) => {
            let is_now = first.bytes.eq_ignore_ascii_case(b"'now'");
            let instant = INSTANTS.into_iter().find(|instant| first.is_word(instant));
            // Without an argument it is the time as well.
            let is_bare = first.is_one_of(&["date", "datetime", "julianday", "time", "unixepoch"])
                && matches!(&tokens[1..], [open, close, ..]
                    if open.is_symbol(b'(') && close.is_symbol(b')'));
            instant.or_else(|| (is_now || is_bare).then_some("'now'"))
        }
        Some(SqlDialect::Postgres) => {
            // `TABLESAMPLE method (share) REPEATABLE (seed)`.
            let is_repeatable = || tokens.iter().take(16).any(|token| token.is_word("repeatable"));
            (first.is_word("tablesample") && !is_repeatable()).then_some("TABLESAMPLE")
        }
        Some(SqlDialect::Mysql) | None => match tokens {
            [colon, equals, ..] if colon.is_symbol(b':') && equals.is_symbol(b'=') => {
                Some("a variable that it assigns (:=)")
            }
            _ => None,
        },
    }
}
