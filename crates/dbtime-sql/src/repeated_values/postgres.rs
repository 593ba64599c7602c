//! Errors of PostgreSQL, by their SQLSTATE and by what of the server reported them.
//!
//! Source: PostgreSQL manual, appendix "PostgreSQL Error Codes"; `pl_exec.c`, `plperl.c`,
//! `plpy_elog.c` and `pltcl.c` for errors that the database's own code makes up.

use super::postgres_messages::{known_message, without_bare_numbers};
use super::{left_out, without_numbers, without_quoted};
use crate::fingerprint::fingerprint;
use crate::lexical_rules::LexicalRules;
use crate::password_places::may_hold_password;
use crate::repeated_words::is_opening;
use dbtime_model::SqlDialect;
use std::borrow::Cow;

/// Classes of states that PostgreSQL has; another one is an extension's, or was made up with its
/// error.
const CLASSES: &str = "00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F \
    34 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX";

/// States of RAISE and ASSERT.
const RAISED_CODES: [&str; 2] = ["P0001", "P0004"];

/// What reports them, whatever state is given to them.
const RAISING_FUNCTIONS: [&str; 2] = ["exec_stmt_raise", "exec_stmt_assert"];

/// What the files begin with in which the other languages report what their code has said.
const RAISING_FILES: [&str; 3] = ["plperl", "plpy", "pltcl"];

/// What the functions begin with that pass on what another server has said.
const RELAYING_FUNCTIONS: [&str; 2] = ["pgfdw_", "dblink_"];

/// What opens files that a statement names.
const FILE_READERS: [&str; 9] = [
    "be-fsstubs.c",
    "copy.c",
    "copyfrom.c",
    "copyto.c",
    "dfmgr.c",
    "fd.c",
    "file_fdw.c",
    "genfile.c",
    "tablespace.c",
];

/// What begins a line of the context of an error in PL/pgSQL, whose statements are those of its
/// code but for those of [`DYNAMIC`].
const OF_FUNCTION: &str = "PL/pgSQL function ";

/// What such a line has at its end where the statement was a text that the code put together.
const DYNAMIC: [&str; 3] = ["EXECUTE", "RETURN QUERY", "OPEN"];

/// What begins such a line of a function in SQL, whose text is its code.
const OF_SQL_FUNCTION: &str = "SQL function ";

/// What stands in the place of a text that was put together at run time, whose names may be values.
const UNSHOWN_QUERY: &str = "?";

/// What begins a line that says which row of which table was being written or locked, or which
/// table was being vacuumed.
const OF_TABLE: [&str; 2] = ["while ", "automatic "];

/// What the words of an error have in them beside names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostgresWords {
    /// Nothing, in most.
    Names,
    /// Values that are numbers, without quotes.
    Numbers,
    /// Values, in quotes or without.
    Values,
    /// A key, in the detail.
    Key,
    /// A row, in the detail.
    Row,
    /// Anything: the database's own code has made them up.
    MadeUp,
}

impl PostgresWords {
    /// Of an error with this SQLSTATE, which was reported by this file and this function of the
    /// server's; `is_placed`: it points into a statement.
    pub fn of(code: &str, (file, function): (&str, &str), is_placed: bool) -> Self {
        let class = code.get(..2).unwrap_or_default();
        let is_state = code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_known = !is_state || CLASSES.split_whitespace().any(|known| known == class);
        let is_raised = RAISED_CODES.contains(&code)
            || RAISING_FUNCTIONS.contains(&function)
            || RAISING_FILES.iter().any(|raising| file.starts_with(raising));
        let is_relayed = RELAYING_FUNCTIONS.iter().any(|begin| function.starts_with(begin));
        // Of other servers, and through poolers, it is not known what reports.
        let is_extension = file.ends_with(".c") && !is_relayed;
        match (class, code) {
            _ if is_raised || !is_known && !is_extension => Self::MadeUp,
            _ if !is_known => Self::Values,
            // The name of a sequence that has ended, with its limit.
            (_, "2200H") => Self::Numbers,
            // The name of a variable that may not be null.
            (_, "22004") => Self::Names,
            // Paths may be made at run time, and hosts of a publisher.
            ("58", _) | (_, "08000" | "08001" | "08006") => Self::Values,
            (_, "42501" | "42P17" | "55006") if FILE_READERS.contains(&file) => Self::Values,
            (_, "23503" | "23505" | "23P01") => Self::Key,
            ("23" | "44", _) => Self::Row,
            ("22" | "HV" | "P0", _) | (_, "XX000") => Self::Values,
            // A value has a syntax too, such as that of a query for words.
            (_, "42601") if !is_placed => Self::Values,
            _ => Self::Names,
        }
    }

    /// Its message without values.
    pub fn message(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Names => known_message(text).map_or(Cow::Borrowed(text), Cow::Owned),
            Self::Numbers => Cow::Owned(without_bare_numbers(text)),
            Self::Values => {
                let general = || without_numbers(&without_quoted(text));
                Cow::Owned(known_message(text).unwrap_or_else(general))
            }
            // CockroachDB has the key there.
            Self::Key | Self::Row => without_list(text, text.find(")=(").map(|at| at + 3)),
            Self::MadeUp => left_out(text),
        }
    }

    /// Its detail without values.
    pub fn detail(self, text: &str) -> Cow<'_, str> {
        let first = text.find('(').map(|at| at + 1);
        match self {
            Self::Names | Self::Numbers => Cow::Borrowed(text),
            // Below the first line of one about XML stands the document.
            Self::Values if text.contains('\n') => Cow::Borrowed(""),
            Self::Values => Cow::Owned(without_numbers(&without_quoted(text))),
            Self::Key => without_list(text, text.find(")=(").map(|at| at + 3).or(first)),
            Self::Row => without_list(text, first),
            Self::MadeUp => Cow::Borrowed(""),
        }
    }

    /// Its hint without values.
    pub fn hint(self, text: &str) -> &str {
        if self == Self::MadeUp { "" } else { text }
    }
}

/// A text without the list that begins there, which ends at the last parenthesis: a value may have
/// some in it.
fn without_list(text: &str, begin: Option<usize>) -> Cow<'_, str> {
    let Some(begin) = begin else { return Cow::Borrowed(text) };
    let end = text.rfind(')').filter(|end| *end >= begin).unwrap_or(text.len());
    Cow::Owned(format!("{}?{}", &text[..begin], &text[end..]))
}

/// Where in the server's work an error happened, up to the first statement or value in it.
pub fn without_context_values(context: &str) -> Cow<'_, str> {
    let mut read = 0;
    for line in context.split_inclusive('\n') {
        if let Some(begin) = value_in(line) {
            return Cow::Owned(format!("{}?", &context[..read + begin]));
        }
        read += line.len();
    }
    Cow::Borrowed(context)
}

/// Where in a line of a context a statement or a value may begin; `None`: it has none.
fn value_in(line: &str) -> Option<usize> {
    if OF_TABLE.iter().any(|begin| line.starts_with(begin)) {
        return None;
    }
    let quote = line.char_indices().find(|(_, sign)| is_opening(*sign));
    let quote = quote.map(|(at, sign)| at + sign.len_utf8());
    let marks = [": ", " = "].map(|mark| line.find(mark).map(|at| at + mark.len()));
    marks.into_iter().chain([quote]).flatten().min()
}

/// A statement that the server has made itself, where this is the context of its error: without
/// its literals where it is one of a function's own that holds no password, and else nothing of it.
pub fn internal_query<'a>(query: &'a str, context: &str) -> Cow<'a, str> {
    if query.is_empty() {
        return Cow::Borrowed(query);
    }
    let line = context.lines().next().unwrap_or_default();
    let is_dynamic = DYNAMIC.iter().any(|words| line.contains(words));
    let is_static = line.starts_with(OF_FUNCTION) && !is_dynamic;
    let is_of_code = is_static || line.starts_with(OF_SQL_FUNCTION);
    if !is_of_code || may_hold_password(query) {
        return Cow::Borrowed(UNSHOWN_QUERY);
    }
    let mut shape = String::new();
    fingerprint(query, &LexicalRules::unknown(SqlDialect::Postgres), &mut shape);
    Cow::Owned(shape)
}

#[cfg(test)]
mod tests {
    use super::super::LEFT_OUT;
    use super::super::tests::marked;
    use super::*;

    fn of(code: &str) -> PostgresWords {
        PostgresWords::of(code, ("int.c", "pg_strtoint32"), false)
    }

    #[test]
    fn values_in_messages_are_left_out() {
        for (code, text) in [
            ("22P02", "invalid input syntax for type integer: \"<hush>\""),
            ("22P02", "invalid input syntax for type integer: \"<a \"hush\" b>\""),
            ("22P02", "ungültige Eingabesyntax für Typ integer: »<hush>«"),
            ("22P02", "invalid input value for enum mood: \"<hush>\""),
            ("22003", "value \"<4711>\" is out of range for type integer"),
            ("22003", "integer out of range"),
            ("22007", "invalid input syntax for type timestamp: \"<hush>\""),
            ("22008", "date/time field value out of range: \"<2024-02-31>\""),
            ("22001", "value too long for type character varying(3)"),
            ("22021", "invalid byte sequence for encoding \"<UTF8>\": <0xff>"),
            ("22023", "invalid value for parameter \"work_mem\": \"<hush>\""),
            ("22023", "invalid value for integer option \"fillfactor\": <hush>"),
            ("22003", "setval: value <5> is out of bounds for sequence \"s\" (<1>..<9>)"),
            ("2200H", "nextval: reached maximum value of sequence \"s 1\" (<9>)"),
            ("2200H", "nextval: erreichte Maximalwert von Sequenz »s 1« (<9>)"),
            ("42704", "<hush> is not a valid encoding name"),
            ("42704", "large object <4711> does not exist"),
            ("54000", "requested character too large for encoding: <4711>"),
            ("2202E", "index <4711> out of valid range, <0>..<3>"),
            ("42601", "syntax error in tsquery: \"<hush>\""),
            ("58P01", "could not open directory \"<hush>\": No such file or directory"),
            ("58P01", "could not access file \"<hush>\": No such file or directory"),
            ("58P01", "directory \"<hush>\" does not exist"),
            ("42809", "could not open directory \"<hush>\": Not a directory"),
            ("08006", "could not connect to the publisher: host \"<hush>\" is unknown"),
            ("XX000", "Syntax error near \"<hush>\" at position <4>"),
            ("23505", "duplicate key value (id)=(<'hush', 4711>) violates unique constraint \"k\""),
        ] {
            let (message, expected) = marked(text);
            assert_eq!(of(code).message(&message), expected, "{message}");
        }
    }

    #[test]
    fn of_an_error_of_an_extension_the_values_are_left_out() {
        let words = PostgresWords::of("TS101", ("chunk.c", "chunk_add"), false);
        let (message, expected) = marked("operation not supported on chunk \"<hush>\" of <4711>");
        assert_eq!(words.message(&message), expected);
    }

    #[test]
    fn files_that_a_statement_names_are_left_out() {
        for (code, file) in [("58P01", "genfile.c"), ("42501", "copyfrom.c")] {
            let (message, expected) = marked("konnte Verzeichnis »<hush>« nicht öffnen");
            let shown = |file| PostgresWords::of(code, (file, ""), false).message(&message);
            assert_eq!(shown(file), expected);
            let is_kept = shown("aclchk.c") == message;
            assert_eq!(is_kept, code == "42501", "the name of a table");
        }
    }

    #[test]
    fn values_in_details_are_left_out() {
        for (code, text) in [
            ("23505", "Key (id)=(<5>) already exists."),
            ("23505", "Key (lower(a), b)=(<hush, x)=(y>) already exists."),
            ("23505", "Schlüssel »(id)=(<5>)« existiert bereits."),
            ("23503", "Key (a)=(<5>) is not present in table \"p\"."),
            ("23503", "Key (id)=(<5>) is still referenced from table \"c\"."),
            ("23P01", "Key (a)=(<5) conflicts with existing key (a)=(6>)."),
            ("23502", "Failing row contains (<1, null, hush>)."),
            ("23514", "Failing row contains (<x)=(hush>)."),
            ("23514", "Partition key of the failing row contains (<a) = (5>)."),
            ("44000", "Failing row contains (<1, hush>)."),
            ("22P02", "Token \"<hush>\" is invalid."),
            ("P0003", "parameters: a = '<hush', b = '5>'"),
        ] {
            let (detail, expected) = marked(text);
            assert_eq!(of(code).detail(&detail), expected, "{detail}");
        }
        assert_eq!(of("2200N").detail("line 1: Start tag expected\nhush\n^"), "");
    }

    #[test]
    fn words_that_were_raised_are_left_out() {
        let text = "account 4711 of hush is closed";
        for (code, file, function) in [
            ("P0001", "pl_exec.c", "exec_stmt_raise"),
            ("P0001", "", ""),
            ("P0004", "pl_exec.c", "exec_stmt_assert"),
            ("23505", "pl_exec.c", "exec_stmt_raise"),
            ("42P01", "pl_exec.c", "exec_stmt_raise"),
            ("XX000", "plperl.c", "plperl_call_perl_func"),
            ("38000", "", ""),
            ("22000", "plpy_elog.c", "PLy_elog_impl"),
            ("U0001", "", ""),
            ("U0001", "plpgsql_functions.go", "raise"),
            ("U0001", "connection.c", "pgfdw_report_error"),
        ] {
            let words = PostgresWords::of(code, (file, function), false);
            let shown = (words.message(text), words.detail(text), words.hint(text));
            assert_eq!(shown, (LEFT_OUT.into(), "".into(), ""), "{code}");
        }
    }

    #[test]
    fn names_stay() {
        for (code, message) in [
            ("23505", "duplicate key value violates unique constraint \"t_pkey\""),
            ("23503", "insert or update on table \"t\" violates foreign key constraint \"f\""),
            ("23502", "null value in column \"a\" of relation \"t\" violates not-null constraint"),
            ("42P01", "relation \"t\" does not exist"),
            ("42703", "column \"x\" does not exist"),
            ("22004", "null value cannot be assigned to variable \"v\" declared NOT NULL"),
            ("55P03", "could not obtain lock on row in relation \"t\""),
            ("\n\u{1b}[2J", "no state 5 \"x\""),
            ("", "could not fork new process for connection"),
        ] {
            assert_eq!(of(code).message(message), message);
        }
        let waits = "Process 1 waits for ShareLock on transaction 5; blocked by process 2.";
        assert_eq!(of("40P01").detail(waits), waits);
        let placed = PostgresWords::of("42601", ("scan.l", "scanner_yyerror"), true);
        let near = "syntax error at or near \"FROMM\"";
        assert_eq!(placed.message(near), near, "a word of the statement");
        let hint = "Perhaps you need a different \"datestyle\" setting.";
        assert_eq!(of("22008").hint(hint), hint);
    }

    #[test]
    fn contexts_end_before_statements_and_values() {
        for (context, expected) in [
            ("COPY t, line 1, column a: \"hush\"", "COPY t, line 1, column a: ?"),
            ("JSON data, line 1: hush", "JSON data, line 1: ?"),
            ("SQL statement \"SELECT 'hush'\"\nPL/pgSQL function f() line 3", "SQL statement \"?"),
            ("unnamed portal parameter $1 = 'hush'", "unnamed portal parameter $1 = ?"),
            ("remote SQL command: SELECT 'hush'", "remote SQL command: ?"),
            ("while at \"t\"\nSQL statement \"x\"", "while at \"t\"\nSQL statement \"?"),
            ("PL/pgSQL function f(integer) line 3 at PERFORM", ""),
            ("automatic vacuum of table \"d.public.t\"", ""),
            ("while locking tuple (0,1) in relation \"t\"\nPL/pgSQL function f() line 3", ""),
        ] {
            let expected = if expected.is_empty() { context } else { expected };
            assert_eq!(without_context_values(context), expected);
        }
        let query = "SELECT 1 + a";
        let line = "PL/pgSQL function inline_code_block line 1 at ";
        assert_eq!(internal_query(query, &format!("{line}PERFORM")), "SELECT ? + a");
        for text in
            ["pw := 'hush'", "SELECT 'hush'::int", "INSERT INTO t VALUES ('hush', $q$hush$q$)"]
        {
            let shown = internal_query(text, &format!("{line}SQL statement"));
            assert!(shown.starts_with(&text[..2]) && !shown.contains("hush"), "{shown}");
        }
        let secret = "SELECT set_config('app.token', 'hush', x)";
        assert_eq!(internal_query(secret, &format!("{line}PERFORM")), "?");
        let of_sql = "SQL function \"f\" during startup";
        assert_eq!(internal_query(query, of_sql), "SELECT ? + a");
        for context in [&*format!("{line}EXECUTE"), "PL/Perl function \"f\"", ""] {
            assert_eq!(internal_query(query, context), "?", "{context}");
            assert_eq!(internal_query("", context), "", "there is none");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_value_of_a_row_is_left(value in "(hush|[)( =,'\"a5]){0,20}") {
            let key = format!("Key (a)=({value}) already exists.");
            proptest::prop_assert_eq!(of("23505").detail(&key), "Key (a)=(?) already exists.");
            let row = format!("Failing row contains ({value}).");
            proptest::prop_assert_eq!(of("23502").detail(&row), "Failing row contains (?).");
        }
    }
}
