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

/// The statement with `words` behind its first SELECT. `None`: it does not begin with one.
pub fn with_select_words(sql: &str, words: &str, rules: &LexicalRules) -> Option<String> {
    let first = *placed(sql, rules)?.first()?;
    let is_select = first.kind == TokenKind::Word && first.text.eq_ignore_ascii_case("select");
    is_select.then(|| format!("{} {words}{}", &sql[..first.end], &sql[first.end..]))
}

/// The aliases of tables, each with its table, without quotes and schemas and in the order of the
/// text. Empty where its tokens are not clear.
pub fn table_aliases(sql: &str, rules: &LexicalRules) -> Vec<(String, String)> {
    let Some(tokens) = placed(sql, rules) else { return Vec::new() };
    let alias = |at: usize| {
        let table = unquoted(tokens[at].text);
        let last = last_of_reference(&tokens, at);
        let is_aliased = last != at && is_reference(&tokens, at, table);
        is_aliased.then(|| (unquoted(tokens[last].text).to_owned(), table.to_owned()))
    };
    (1..tokens.len()).filter_map(alias).collect()
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
    if !is_name(tokens[at]) || !unquoted(tokens[at].text).eq_ignore_ascii_case(table) {
        return false;
    }
    let mut first = at;
    // With its schema before it.
    while first >= 2 && tokens[first - 1].text == "." && is_name(tokens[first - 2]) {
        first -= 2;
    }
    let before = first.checked_sub(1).map_or("", |before| tokens[before].text);
    let is_introduced = ["from", "join", "straight_join", "update"]
        .iter()
        .any(|word| before.eq_ignore_ascii_case(word));
    is_introduced || before == "," && is_in_from(&tokens[..first])
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
        is_name(*token) && (token.kind == TokenKind::QuotedName || !is_keyword)
    };
    if next(at).is_some_and(is_alias) { at + 1 } else { at }
}

fn is_name(token: TablePlaceToken<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::QuotedName)
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
    fn aliases_stand_for_tables() {
        let rules = LexicalRules::defaults(SqlDialect::Mysql);
        let of = |sql| {
            let aliases = table_aliases(sql, &rules).into_iter();
            aliases.map(|(alias, table)| format!("{alias}={table}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("SELECT * FROM shop.`big` b, t AS x JOIN u ON u.a = b.a"), "b=big x=t");
        assert_eq!(of("SELECT 1 FROM (SELECT a FROM t y WHERE a = 1) AS d WHERE d.a"), "y=t");
        assert_eq!(of("SELECT a AS b FROM t WHERE a IN (1, 2) ORDER BY a"), "");
        assert_eq!(of(""), "");
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
