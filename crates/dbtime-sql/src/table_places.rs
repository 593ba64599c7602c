//! Where a statement names a table, and by which alias, so that an index hint can stand behind it.

use crate::joint_lexer::JointLexer;
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;

/// A token that is no white space.
#[derive(Clone, Copy, Debug)]
struct TablePlaceToken<'a> {
    kind: TokenKind,
    text: &'a str,
    /// Where it ends.
    end: usize,
}

/// A table as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTable {
    /// Without its schema and without quotes.
    pub table: String,
    /// What the rest of the statement calls it, where that is another name.
    pub alias: Option<String>,
}

/// Words behind which a table stands that rows are read from.
const BEFORE_A_TABLE: [&str; 4] = ["from", "join", "straight_join", "update"];

/// Words behind a table that are no alias of it.
const BEHIND_A_TABLE: [&str; 29] = [
    "where",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "natural",
    "straight_join",
    "on",
    "using",
    "group",
    "order",
    "having",
    "limit",
    "union",
    "intersect",
    "except",
    "window",
    "for",
    "lock",
    "indexed",
    "not",
    "use",
    "force",
    "ignore",
    "partition",
    "set",
    "procedure",
];

/// The statement with `suffix` behind the first table reference to `table`, behind its alias where
/// it has one: `SELECT a FROM t AS x IGNORE INDEX (i)`. `None`: it names no such table, or its
/// tokens are not clear.
pub fn with_table_suffix(
    sql: &str,
    table: &str,
    suffix: &str,
    rules: &LexicalRules,
) -> Option<String> {
    let tokens = placed(sql, rules)?;
    let at = (1..tokens.len()).find(|at| is_reference(&tokens, *at, table))?;
    let end = tokens[last_of_reference(&tokens, at)].end;
    Some(format!("{} {suffix}{}", &sql[..end], &sql[end..]))
}

/// The tables that a statement names, each with each of its aliases once, in order. A name that
/// `WITH` gives to a query is among them. None where tokens are not clear.
///
/// Cost: O(length × tables).
pub fn named_tables(sql: &str, rules: &LexicalRules) -> Vec<NamedTable> {
    let tokens = placed(sql, rules).unwrap_or_default();
    let name = |at: usize| unquoted(tokens[at].text).to_owned();
    let mut tables: Vec<NamedTable> = Vec::new();
    for at in 1..tokens.len() {
        let last = match is_table(&tokens, at) {
            true => last_of_reference(&tokens, at),
            false if is_target(&tokens, at) => at,
            false => continue,
        };
        let named = NamedTable { table: name(at), alias: (last > at).then(|| name(last)) };
        if !tables.contains(&named) {
            tables.push(named);
        }
    }
    tables
}

/// The statement with `words` behind its first SELECT. `None`: it does not begin with one.
pub fn with_select_words(sql: &str, words: &str, rules: &LexicalRules) -> Option<String> {
    let first = *placed(sql, rules)?.first()?;
    let is_select = first.kind == TokenKind::Word && first.text.eq_ignore_ascii_case("select");
    is_select.then(|| format!("{} {words}{}", &sql[..first.end], &sql[first.end..]))
}

/// The tokens but for white space; `None`: they are not clear.
fn placed<'a>(sql: &'a str, rules: &LexicalRules) -> Option<Vec<TablePlaceToken<'a>>> {
    let mut lexer = JointLexer::new(sql.as_bytes(), rules);
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        let end = lexer.position();
        match token.kind {
            TokenKind::Space => {}
            TokenKind::Unclear => return None,
            kind => {
                let text = sql.get(end - token.bytes.len()..end)?;
                tokens.push(TablePlaceToken { kind, text, end });
            }
        }
    }
    Some(tokens)
}

/// Whether the token names this table where tables stand.
fn is_reference(tokens: &[TablePlaceToken<'_>], at: usize, table: &str) -> bool {
    unquoted(tokens[at].text).eq_ignore_ascii_case(table) && is_table(tokens, at)
}

/// Whether the token is the name of a table that rows are read from.
fn is_table(tokens: &[TablePlaceToken<'_>], at: usize) -> bool {
    if !is_whole_name(tokens, at) {
        return false;
    }
    let (before, first) = before_name(tokens, at);
    let is_introduced = BEFORE_A_TABLE.iter().any(|word| before.eq_ignore_ascii_case(word));
    is_introduced || before == "," && is_in_from(&tokens[..first])
}

/// Whether the token is the name of a table that rows are written into.
fn is_target(tokens: &[TablePlaceToken<'_>], at: usize) -> bool {
    is_whole_name(tokens, at) && before_name(tokens, at).0.eq_ignore_ascii_case("into")
}

/// Whether the token is a name, and that of no schema.
fn is_whole_name(tokens: &[TablePlaceToken<'_>], at: usize) -> bool {
    is_name(tokens[at]) && tokens.get(at + 1).is_none_or(|next| next.text != ".")
}

/// What stands before a name and its schema, and where these begin.
fn before_name<'a>(tokens: &[TablePlaceToken<'a>], at: usize) -> (&'a str, usize) {
    let mut first = at;
    while first >= 2 && tokens[first - 1].text == "." && is_name(tokens[first - 2]) {
        first -= 2;
    }
    (first.checked_sub(1).map_or("", |before| tokens[before].text), first)
}

/// Whether a comma behind these tokens divides tables: the last clause that began is FROM.
fn is_in_from(before: &[TablePlaceToken<'_>]) -> bool {
    let mut depth = 0_i32;
    for token in before.iter().rev() {
        match token.text {
            ")" => depth += 1,
            "(" if depth == 0 => return false,
            "(" => depth -= 1,
            word if depth == 0 && token.kind == TokenKind::Word => {
                if word.eq_ignore_ascii_case("from") {
                    return true;
                }
                let others = ["select", "where", "group", "order", "on", "set", "having"];
                if others.iter().any(|other| word.eq_ignore_ascii_case(other)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

/// The last token of a table reference that begins there: its name or its alias.
fn last_of_reference(tokens: &[TablePlaceToken<'_>], at: usize) -> usize {
    let next = |at: usize| tokens.get(at + 1);
    let has_as = next(at).is_some_and(|token| token.text.eq_ignore_ascii_case("as"));
    if has_as {
        return if next(at + 1).is_some() { at + 2 } else { at };
    }
    let is_alias = |token: &TablePlaceToken<'_>| {
        let is_keyword = BEHIND_A_TABLE.iter().any(|word| token.text.eq_ignore_ascii_case(word));
        is_name(*token) && (token.kind != TokenKind::Word || !is_keyword)
    };
    if next(at).is_some_and(is_alias) { at + 1 } else { at }
}

/// Double quotes of SQLite are around a string only where there is no such name.
fn is_name(token: TablePlaceToken<'_>) -> bool {
    match token.kind {
        TokenKind::Word | TokenKind::QuotedName => true,
        TokenKind::Literal => token.text.starts_with('"'),
        _ => false,
    }
}

/// A name without its quotes; one with quotes in it is left as it is, and names no table.
fn unquoted(name: &str) -> &str {
    let within =
        |open: char, close: char| name.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let quotes = [('`', '`'), ('"', '"'), ('[', ']')];
    quotes.into_iter().find_map(|(open, close)| within(open, close)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::SqlDialect;
    use proptest::prelude::*;

    fn with(sql: &str, table: &str) -> Option<String> {
        with_table_suffix(sql, table, "NOT INDEXED", &LexicalRules::defaults(SqlDialect::Sqlite))
    }

    #[test]
    fn a_hint_stands_behind_the_table_or_its_alias() {
        for (sql, hinted) in [
            ("SELECT a FROM t", "SELECT a FROM t NOT INDEXED"),
            ("SELECT a FROM t WHERE b", "SELECT a FROM t NOT INDEXED WHERE b"),
            ("SELECT t.a FROM u, t AS x, v", "SELECT t.a FROM u, t AS x NOT INDEXED, v"),
            ("SELECT a FROM u JOIN s.`t` x ON 1", "SELECT a FROM u JOIN s.`t` x NOT INDEXED ON 1"),
            ("UPDATE T SET t = 1", "UPDATE T NOT INDEXED SET t = 1"),
        ] {
            assert_eq!(with(sql, "t").as_deref(), Some(hinted), "{sql}");
        }
        for sql in ["SELECT t FROM u", "SELECT 't' FROM u WHERE a IN (1, t)", "SELECT f(u, t)", ""]
        {
            assert_eq!(with(sql, "t"), None, "{sql}");
        }
    }

    #[test]
    fn tables_are_named_with_their_aliases() {
        let rules = LexicalRules::defaults(SqlDialect::Sqlite);
        let named = |sql| {
            let each = |one: NamedTable| match one.alias {
                Some(alias) => format!("{} {alias}", one.table),
                None => one.table,
            };
            named_tables(sql, &rules).into_iter().map(each).collect::<Vec<_>>().join(", ")
        };
        for (sql, tables) in [
            ("SELECT a FROM t AS x, s.u, (SELECT 1) y JOIN \"v\" z ON 1", "t x, u, v z"),
            ("SELECT t FROM u WHERE a IN (SELECT b, c FROM w)", "u, w"),
            ("SELECT 1 FROM e JOIN e f ON 1, e", "e, e f"),
            ("INSERT INTO t SELECT a FROM u", "t, u"),
            ("DELETE FROM t WHERE a = ':x'", "t"),
            ("SELECT 1", ""),
        ] {
            assert_eq!(named(sql), tables, "{sql}");
        }
        assert_eq!(with("SELECT a FROM t.u", "t"), None);
    }

    #[test]
    fn words_stand_behind_the_first_select() {
        let rules = LexicalRules::defaults(SqlDialect::Mysql);
        let with = |sql| with_select_words(sql, "STRAIGHT_JOIN", &rules);
        assert_eq!(with("/* a */ select 1").as_deref(), Some("/* a */ select STRAIGHT_JOIN 1"));
        assert_eq!(with("WITH a AS (SELECT 1) SELECT 2"), None);
    }

    proptest! {
        /// Whatever the text, what comes of it is the text with the hint.
        #[test]
        fn nothing_of_a_text_is_lost(sql in ".{0,60}", table in "[a-z]{1,2}") {
            let text = format!("SELECT 1 FROM {table} {sql}");
            if let Some(hinted) = with(&text, &table) {
                prop_assert_eq!(hinted.replacen(" NOT INDEXED", "", 1), text);
            }
        }
    }
}
