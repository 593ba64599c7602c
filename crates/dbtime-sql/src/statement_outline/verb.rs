//! What a statement does, by its first words.

use super::tokens::{OutlineToken, is_among};
use crate::lexer::TokenKind;
use dbtime_model::SqlDialect;

/// Words behind which a statement changes definitions, or what is kept about tables.
const DEFINITIONS: &str = "alter analyze cluster comment create drop grant import optimize refresh \
    reindex rename repair revoke security truncate vacuum";

/// Words with which a statement begins or ends transactions.
const TRANSACTIONS: &str = "abort begin commit end lock prepare release rollback savepoint start \
    unlock xa";

/// What may stand behind `EXPLAIN`, or behind the definitions of `WITH`.
const INNER_VERBS: [&str; 10] =
    ["select", "with", "values", "table", "insert", "update", "delete", "replace", "merge", "call"];

/// Pragmas that do something which no rollback undoes; those that are given a value are such, too.
const LASTING_PRAGMAS: [&str; 4] =
    ["incremental_vacuum", "optimize", "shrink_memory", "wal_checkpoint"];

/// Longer words are no verbs: they are cut where they are repeated.
const MAX_VERB: usize = 32;

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementVerb {
    /// `SELECT`.
    Select,
    /// A query behind common table expressions; behind them a write has its own verb.
    With,
    /// `VALUES`.
    Values,
    /// `TABLE t`.
    Table,
    /// `SHOW`.
    Show,
    /// `INSERT`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
    /// `REPLACE`.
    Replace,
    /// `MERGE`.
    Merge,
    /// `CALL`.
    Call,
    /// Definitions: `CREATE`, `GRANT`, `VACUUM`, also PostgreSQL's `SELECT … INTO`.
    Definition,
    /// `BEGIN`, `COMMIT`, `LOCK` and their like.
    Transaction,
    /// Another first word, in capitals; empty: there is none.
    Other(String),
}

impl StatementVerb {
    fn is_write(&self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::Replace | Self::Merge)
    }

    /// Whether it returns rows of tables.
    fn is_query(&self) -> bool {
        matches!(self, Self::Select | Self::With | Self::Values | Self::Table)
    }
}

/// A verb, and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct VerbReading {
    pub(super) verb: StatementVerb,
    pub(super) writes: bool,
    /// Why it cannot be rolled back.
    pub(super) irrevocable: Option<String>,
    /// Whether what it calls is executed: not where it is explained alone.
    pub(super) is_executed: bool,
}

/// What one statement does, whose tokens these are.
pub(super) fn verb_of(tokens: &[OutlineToken<'_>], dialect: Option<SqlDialect>) -> VerbReading {
    let tokens = behind_settings(behind_parentheses(tokens));
    let Some(first) = tokens.first() else { return of_query(StatementVerb::Other(String::new())) };
    let inner = match first.lower().as_str() {
        "explain" | "describe" | "desc" => {
            let found = tokens.iter().skip(1).position(|token| token.is_one_of(&INNER_VERBS));
            found.map_or(&tokens[tokens.len()..], |at| &tokens[at + 1..])
        }
        "analyze" => match behind_format(&tokens[1..]) {
            [inner, ..] if !inner.is_word("table") && inner.is_one_of(&INNER_VERBS) => {
                behind_format(&tokens[1..])
            }
            _ => return plain(tokens, dialect),
        },
        _ => return plain(tokens, dialect),
    };
    let before = &tokens[..tokens.len() - inner.len()];
    let is_executed = before.iter().any(|token| token.is_one_of(&["analyze", "analyse"]));
    let verb = StatementVerb::Other(shown(first));
    match is_executed && !inner.is_empty() {
        true => VerbReading { verb, ..plain(inner, dialect) },
        false => VerbReading { is_executed: false, ..of_query(verb) },
    }
}

/// One that neither writes nor lasts.
fn of_query(verb: StatementVerb) -> VerbReading {
    VerbReading { verb, writes: false, irrevocable: None, is_executed: true }
}

/// A statement that is executed as it stands.
fn plain(tokens: &[OutlineToken<'_>], dialect: Option<SqlDialect>) -> VerbReading {
    let first_verb = first_verb(tokens);
    let makes_table = first_verb.is_query() && makes_table(tokens, dialect);
    let verb = if makes_table { StatementVerb::Definition } else { first_verb };
    let irrevocable = match makes_table {
        true => Some("SELECT … INTO makes a table".to_owned()),
        false => lasting(&verb, tokens, dialect),
    };
    let writes = match &verb {
        StatementVerb::Call | StatementVerb::Definition => true,
        StatementVerb::Other(word) => match word.as_str() {
            "COPY" => tokens.iter().any(|token| token.depth == 0 && token.is_word("from")),
            word => matches!(word, "DO" | "EXECUTE" | "LOAD"),
        },
        verb => verb.is_write() || has_inner_write(tokens),
    };
    VerbReading { verb, writes, irrevocable, is_executed: true }
}

fn first_verb(tokens: &[OutlineToken<'_>]) -> StatementVerb {
    let Some(first) = tokens.first() else { return StatementVerb::Other(String::new()) };
    match first.lower().as_str() {
        "with" => behind_definitions(tokens),
        "select" => StatementVerb::Select,
        "values" => StatementVerb::Values,
        "table" => StatementVerb::Table,
        "show" => StatementVerb::Show,
        "insert" => StatementVerb::Insert,
        "update" => StatementVerb::Update,
        "delete" => StatementVerb::Delete,
        "replace" => StatementVerb::Replace,
        "merge" => StatementVerb::Merge,
        "call" => StatementVerb::Call,
        word if is_among(word, DEFINITIONS) => StatementVerb::Definition,
        word if is_among(word, TRANSACTIONS) => StatementVerb::Transaction,
        _ => StatementVerb::Other(shown(first)),
    }
}

/// What a statement does that begins with common table expressions.
fn behind_definitions(tokens: &[OutlineToken<'_>]) -> StatementVerb {
    let depth = tokens.first().map_or(0, |token| token.depth);
    // The definitions stand deeper.
    let mut outside = tokens.iter().skip(1).filter(|token| token.depth == depth);
    match outside.find(|token| token.is_one_of(&INNER_VERBS)) {
        Some(verb) if verb.is_word("insert") => StatementVerb::Insert,
        Some(verb) if verb.is_word("update") => StatementVerb::Update,
        Some(verb) if verb.is_word("delete") => StatementVerb::Delete,
        Some(verb) if verb.is_word("replace") => StatementVerb::Replace,
        Some(verb) if verb.is_word("merge") => StatementVerb::Merge,
        _ => StatementVerb::With,
    }
}

/// Whether something in parentheses changes rows, as common table expressions of PostgreSQL may.
fn has_inner_write(tokens: &[OutlineToken<'_>]) -> bool {
    tokens.windows(3).any(|three| {
        let [before, verb, next] = three else { return false };
        // It may have common table expressions of its own before it.
        (before.is_symbol(b'(') || before.is_symbol(b')'))
            && match verb.lower().as_str() {
                "insert" | "merge" => next.is_word("into"),
                "delete" => next.is_word("from"),
                "update" => matches!(next.kind, TokenKind::Word | TokenKind::QuotedName),
                _ => false,
            }
    })
}

/// Whether a query makes a table of its rows. Elsewhere `INTO` is followed by a variable or a file.
fn makes_table(tokens: &[OutlineToken<'_>], dialect: Option<SqlDialect>) -> bool {
    let depth = tokens.first().map_or(0, |token| token.depth);
    dialect != Some(SqlDialect::Mysql)
        && tokens.iter().any(|token| token.depth <= depth && token.is_word("into"))
        && !writes_file(tokens)
}

fn writes_file(tokens: &[OutlineToken<'_>]) -> bool {
    let is_file = |token: &OutlineToken<'_>| token.is_one_of(&["outfile", "dumpfile"]);
    tokens.windows(2).any(|pair| pair[0].is_word("into") && is_file(&pair[1]))
}

/// Why a statement cannot be rolled back.
fn lasting(
    verb: &StatementVerb,
    tokens: &[OutlineToken<'_>],
    dialect: Option<SqlDialect>,
) -> Option<String> {
    let word = tokens.first().map(shown).unwrap_or_default();
    match verb {
        StatementVerb::Definition => match dialect {
            Some(SqlDialect::Postgres | SqlDialect::Sqlite) => {
                Some(format!("{word} changes definitions, for which all others have to wait"))
            }
            Some(SqlDialect::Mysql) | None => Some(format!("{word} commits by itself")),
        },
        StatementVerb::Transaction => Some(format!("{word} begins or ends what is rolled back")),
        StatementVerb::Call => Some("CALL may commit by itself".to_owned()),
        StatementVerb::Other(word) => lasting_other(word, tokens),
        _ if writes_file(tokens) => Some("INTO OUTFILE writes a file".to_owned()),
        _ => None,
    }
}

fn lasting_other(word: &str, tokens: &[OutlineToken<'_>]) -> Option<String> {
    match word {
        "" | "HELP" => None,
        "COPY" => {
            let is_outside = tokens.windows(2).any(|pair| {
                pair[1].is_word("program")
                    || pair[0].is_word("to") && pair[1].kind == TokenKind::Literal
            });
            is_outside.then(|| "COPY writes a file, or runs a program".to_owned())
        }
        "PRAGMA" => {
            let mut words = tokens.iter();
            let is_lasting =
                words.any(|token| token.is_symbol(b'=') || token.is_one_of(&LASTING_PRAGMAS));
            is_lasting.then(|| "this PRAGMA sets something, or does it at once".to_owned())
        }
        "DO" | "LOAD" => Some(format!("{word} may commit by itself")),
        word => Some(format!("whether {word} can be rolled back is not known")),
    }
}

/// A word in capitals.
fn shown(token: &OutlineToken<'_>) -> String {
    token.lower().to_ascii_uppercase().chars().take(MAX_VERB).collect()
}

fn behind_parentheses<'t, 'a>(tokens: &'t [OutlineToken<'a>]) -> &'t [OutlineToken<'a>] {
    let from = tokens.iter().position(|token| !token.is_symbol(b'('));
    &tokens[from.unwrap_or(tokens.len())..]
}

/// Behind `SET STATEMENT a = 1 FOR` of MariaDB's.
fn behind_settings<'t, 'a>(mut tokens: &'t [OutlineToken<'a>]) -> &'t [OutlineToken<'a>] {
    while let [set, statement, rest @ ..] = tokens
        && set.is_word("set")
        && statement.is_word("statement")
        && let Some(at) = rest.iter().position(|token| token.is_word("for"))
    {
        tokens = &rest[at + 1..];
    }
    tokens
}

/// Behind `FORMAT = JSON`.
fn behind_format<'t, 'a>(tokens: &'t [OutlineToken<'a>]) -> &'t [OutlineToken<'a>] {
    match tokens {
        [format, equals, _, rest @ ..] if format.is_word("format") && equals.is_symbol(b'=') => {
            rest
        }
        _ => tokens,
    }
}
