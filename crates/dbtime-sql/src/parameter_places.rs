//! Where statements end in a text, and where the first of them has parameters.

use crate::lexer::{KnownRules, SqlLexer, TokenKind};
use crate::lexical_rules::LexicalRules;
use dbtime_model::SqlDialect;
use std::ops::Range;

/// A text with its statements and their parameters. Where it may be read in several ways, it is
/// read in the one that is most likely: it is executed, and not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementPlaces {
    /// The bytes of each statement that has more than space and comments, without its `;`.
    pub statements: Vec<Range<usize>>,
    /// The parameters of the first one, in order.
    pub parameters: Vec<ParameterPlace>,
}

/// A parameter in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterPlace {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is called there.
    pub name: ParameterName,
}

/// How a text calls a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterName {
    /// `:id`.
    Named(String),
    /// `$1`, and of SQLite `?1`.
    Numbered(u32),
    /// `?`: the next one.
    Next,
}

impl StatementPlaces {
    /// Reads a text. `::`, `:=` and slices are no parameters, and no operator of PostgreSQL with a
    /// question mark is one.
    pub fn of(sql: &str, rules: &LexicalRules) -> Self {
        let tokens = PlacedTokens::read(sql, rules);
        let mut places = Self { statements: tokens.statements(), parameters: Vec::new() };
        let Some(first) = places.statements.first().cloned() else { return places };
        let mut at = tokens.0.partition_point(|token| token.range.end <= first.start);
        while let Some(token) = tokens.0.get(at).filter(|token| token.range.start < first.end) {
            let Some((name, length)) = tokens.parameter(at, rules.dialects().0) else {
                at += 1;
                continue;
            };
            let end = tokens.0[at + length - 1].range.end;
            places.parameters.push(ParameterPlace { range: token.range.start..end, name });
            at += length;
        }
        places
    }
}

#[derive(Clone, Debug)]
struct PlacedToken<'a> {
    kind: TokenKind,
    text: &'a str,
    range: Range<usize>,
}

struct PlacedTokens<'a>(Vec<PlacedToken<'a>>);

impl<'a> PlacedTokens<'a> {
    fn read(sql: &'a str, rules: &LexicalRules) -> Self {
        let bytes = sql.as_bytes();
        let likely = KnownRules::all(rules, bytes).next();
        let known = likely.unwrap_or_else(|| KnownRules::usual(rules.dialects().0));
        let mut lexer = SqlLexer::new(known);
        let (mut at, mut tokens) = (0, Vec::new());
        while at < bytes.len() {
            let token = lexer.token(bytes, at);
            let range = at..token.end;
            // A token of a charset that is not the text's may end within a character.
            let text = sql.get(range.clone()).unwrap_or_default();
            tokens.push(PlacedToken { kind: token.kind, text, range });
            at = token.end;
        }
        Self(tokens)
    }

    /// The bytes of each statement.
    fn statements(&self) -> Vec<Range<usize>> {
        let mut statements = Vec::new();
        let (mut from, mut end, mut is_empty) = (0, 0, true);
        for token in &self.0 {
            end = token.range.end;
            match (token.kind, token.text) {
                (TokenKind::Symbol, ";") => {
                    if !is_empty {
                        statements.push(from..token.range.start);
                    }
                    (from, is_empty) = (end, true);
                }
                (TokenKind::Space, _) => {}
                _ => is_empty = false,
            }
        }
        if !is_empty {
            statements.push(from..end);
        }
        statements
    }

    fn text(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("", |token| token.text)
    }

    /// The parameter whose first token this is, and how many tokens it has.
    fn parameter(&self, at: usize, dialect: SqlDialect) -> Option<(ParameterName, usize)> {
        let token = self.0.get(at)?;
        match (token.kind, token.text) {
            (TokenKind::Symbol, ":") => Some((ParameterName::Named(self.name_behind(at)?), 2)),
            // MySQL's lexer takes `$1` for a name.
            (TokenKind::Parameter | TokenKind::Word, text) => Some((number_of(text)?, 1)),
            (TokenKind::Symbol, "?") => match self.text(at + 1).parse::<u32>() {
                Ok(number) if dialect == SqlDialect::Sqlite => {
                    Some((ParameterName::Numbered(number), 2))
                }
                _ if dialect == SqlDialect::Postgres && self.is_operator(at) => None,
                _ => Some((ParameterName::Next, 1)),
            },
            _ => None,
        }
    }

    /// The name directly behind a colon that begins a parameter.
    fn name_behind(&self, colon: usize) -> Option<String> {
        let is_second = colon > 0 && self.text(colon - 1) == ":";
        let name = self.0.get(colon + 1).filter(|next| next.kind == TokenKind::Word)?;
        let begins = name.text.starts_with(|c: char| c == '_' || c.is_alphabetic());
        (begins && !is_second).then(|| name.text.to_owned())
    }

    /// Whether a question mark is of one of PostgreSQL's operators: `?|`, `@?`, or one with a value
    /// behind it, which no parameter has.
    fn is_operator(&self, at: usize) -> bool {
        let is_long = matches!(self.text(at + 1), "|" | "&" | "?" | "#" | "-");
        let is_end = at > 0 && matches!(self.text(at - 1), "?" | "@");
        let mut next = at + 1;
        while self.0.get(next).is_some_and(|token| token.kind == TokenKind::Space) {
            next += 1;
        }
        let has_value = self.0.get(next).is_some_and(|token| match token.kind {
            TokenKind::Literal | TokenKind::Parameter => true,
            _ => token.text == ":" && self.name_behind(next).is_some(),
        });
        is_long || is_end || has_value
    }
}

/// The parameter `$1`.
fn number_of(text: &str) -> Option<ParameterName> {
    let number = text.strip_prefix('$')?.parse().ok()?;
    Some(ParameterName::Numbered(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(sql: &str, dialect: SqlDialect) -> StatementPlaces {
        StatementPlaces::of(sql, &LexicalRules::unknown(dialect))
    }

    /// The parameters as they stand in the text.
    fn parameters(sql: &str, dialect: SqlDialect) -> String {
        let found = places(sql, dialect).parameters;
        found.iter().map(|place| &sql[place.range.clone()]).collect::<Vec<&str>>().join(" ")
    }

    #[test]
    fn each_way_to_write_a_parameter_is_found() {
        use SqlDialect::{Mysql, Postgres, Sqlite};
        for (sql, found, dialect) in [
            ("SELECT a FROM t WHERE a=:a AND b > :b_1", ":a :b_1", Mysql),
            ("SELECT ':a', \"x:b\", `c:d`, :e -- :f\n/* :g */ # :h", ":e", Mysql),
            ("SELECT @x:=1, @y := :z", ":z", Mysql),
            ("SELECT a FROM t WHERE a IN (?, ?)", "? ?", Mysql),
            ("SELECT $1, a$1, $2", "$1 $2", Mysql),
            ("SELECT :a::text, x::int, x[1:2] FROM t -- :c", ":a", Postgres),
            ("SELECT $1, $$ :a $$, $t$ ? $t$, '?', $12::int", "$1 $12", Postgres),
            ("SELECT a ? 'k', a ?| b, a ?& b, a ? $1, a ? :k", "$1 :k", Postgres),
            ("SELECT a FROM t WHERE a = ? LIMIT ?", "? ?", Postgres),
            ("SELECT a @? b, ?::int", "?", Postgres),
            ("SELECT [a:b], :c, ?, $2", ":c ? $2", Sqlite),
        ] {
            assert_eq!(parameters(sql, dialect), found, "{sql}");
        }
    }

    #[test]
    fn names_are_those_of_the_text() {
        let names = |sql, dialect| {
            let found = places(sql, dialect).parameters;
            found.into_iter().map(|place| place.name).collect::<Vec<ParameterName>>()
        };
        let named = ParameterName::Named("id".to_owned());
        assert_eq!(names("SELECT :id, :id", SqlDialect::Mysql), [named.clone(), named]);
        let numbered = ParameterName::Numbered;
        assert_eq!(names("SELECT $2, $1", SqlDialect::Postgres), [numbered(2), numbered(1)]);
        assert_eq!(names("SELECT ?3, ?", SqlDialect::Sqlite), [numbered(3), ParameterName::Next]);
    }

    #[test]
    fn statements_end_where_a_semicolon_is_one() {
        let texts = |sql: &'static str| {
            let found = places(sql, SqlDialect::Mysql).statements;
            found.into_iter().map(|range| &sql[range]).collect::<Vec<&str>>()
        };
        assert_eq!(texts("SELECT ';' ; -- and; more\n"), ["SELECT ';' "]);
        assert_eq!(texts("SELECT 1 /*! + 1 */"), ["SELECT 1 /*! + 1 */"]);
        assert_eq!(texts("SELECT :a;;DELETE FROM t"), ["SELECT :a", "DELETE FROM t"]);
        assert!(texts(" ; /* nothing */").is_empty());
        // Parameters of a second one are none of the first.
        assert_eq!(parameters("SELECT 1; SELECT :a", SqlDialect::Mysql), "");
    }

    proptest! {
        #[test]
        fn any_text_has_places_within_it(
            sql in "(::|:|\\?|\\$1|\\$\\$|;|'|--|/\\*|\\*/|é|\u{fffd}|[a-z\"`\\[@\\| \n1]){0,30}"
        ) {
            for dialect in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
                let found = places(&sql, dialect);
                let mut end = 0;
                for range in &found.statements {
                    prop_assert!(end <= range.start && sql.get(range.clone()).is_some());
                    end = range.end;
                }
                let mut end = found.statements.first().map_or(0, |first| first.start);
                for place in &found.parameters {
                    prop_assert!(end <= place.range.start);
                    prop_assert!(sql.get(place.range.clone()).is_some());
                    end = place.range.end;
                }
                prop_assert!(found.statements.first().is_none_or(|first| end <= first.end));
            }
        }
    }
}
