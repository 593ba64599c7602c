//! From SQL with `:name` parameters to SQL with `?1`, `?2`, … placeholders.

/// A statement with its parameters taken out.
#[derive(Debug, PartialEq)]
pub(crate) struct CompiledSql {
    /// The text with placeholders. Every occurrence of a name has a placeholder of its own, in the
    /// order of the text, so that an engine with bare `?` only has to drop the numbers.
    pub(crate) text: String,
    /// The names of the placeholders, in order.
    pub(crate) names: Vec<String>,
}

/// Why SQL cannot be used: what was found, and what was expected.
#[derive(Debug, PartialEq)]
pub(crate) struct SqlError {
    pub(crate) found: String,
    pub(crate) expected: &'static str,
}

/// Replaces `:name` outside quotes and comments; `::` and `:=` are left alone.
pub(crate) fn compile(sql: &str) -> Result<CompiledSql, SqlError> {
    let refuse = |found: &str, expected| Err(SqlError { found: found.to_owned(), expected });
    let mut compiled = CompiledSql { text: String::with_capacity(sql.len()), names: Vec::new() };
    let mut rest = sql.trim();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ':' if rest.starts_with("::") => 2,
            ':' => {
                let name = name(&rest[1..]);
                if !name.is_empty() {
                    compiled.names.push(name.to_owned());
                    let number = compiled.names.len();
                    compiled.text.push_str(&format!("?{number}"));
                    rest = &rest[1 + name.len()..];
                    continue;
                }
                1
            }
            '?' => return refuse("`?` in SQL", "parameters written as `:name`"),
            ';' if rest[1..].trim().is_empty() => rest.len(),
            ';' => return refuse("`;` in mid-SQL", "one statement per entry"),
            _ => lexeme(rest, &compiled.text)?,
        };
        if first != ';' {
            compiled.text.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    if compiled.text.trim().is_empty() {
        return refuse("empty SQL", "a statement");
    }
    if compiled.names.len() > PARAMETERS_MAX {
        return refuse("a statement with too many parameters", "at most 32766, SQLite's limit");
    }
    Ok(compiled)
}

/// The text between the placeholders of compiled SQL: one piece more than there are placeholders.
pub(crate) fn pieces(compiled: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(first) = compiled[at..].chars().next() {
        let rest = &compiled[at..];
        at += if first == '?' {
            pieces.push(&compiled[from..at]);
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            from = at + 1 + digits;
            1 + digits
        } else {
            // What was compiled has no unclosed quotes.
            lexeme(rest, &compiled[..at]).unwrap_or(rest.len())
        };
    }
    pieces.push(&compiled[from..]);
    pieces
}

/// How many placeholders compiled SQL has: so many values are given with it.
pub fn placeholders(compiled: &str) -> usize {
    pieces(compiled).len() - 1
}

const PARAMETERS_MAX: usize = 32_766;

/// The name at the beginning of a text: a letter or `_`, then also digits.
fn name(text: &str) -> &str {
    let belongs =
        |(at, c): (usize, char)| c == '_' || c.is_alphabetic() || at > 0 && c.is_numeric();
    let end = text.char_indices().find(|&at| !belongs(at)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The length of the quoted text, the comment or the character that `rest` begins with.
fn lexeme(rest: &str, before: &str) -> Result<usize, SqlError> {
    match rest.chars().next() {
        Some(quote @ ('\'' | '"' | '`')) => quoted(rest, quote),
        Some('-') if rest.starts_with("--") => Ok(rest.find('\n').unwrap_or(rest.len())),
        Some('/') if rest.starts_with("/*") => comment(rest),
        Some('$') => dollar_quoted(rest, before),
        other => Ok(other.map_or(0, char::len_utf8)),
    }
}

/// The length of a quoted text; a doubled quote inside reads as two texts, which comes to the same.
fn quoted(text: &str, quote: char) -> Result<usize, SqlError> {
    let end = text[1..].find(quote);
    end.map(|at| at + 2).ok_or_else(|| unclosed(&format!("{quote}")))
}

fn comment(text: &str) -> Result<usize, SqlError> {
    text[2..].find("*/").map(|at| at + 4).ok_or_else(|| unclosed("/*"))
}

/// PostgreSQL's `$tag$ … $tag$`; a `$` that opens none counts as one character.
fn dollar_quoted(text: &str, before: &str) -> Result<usize, SqlError> {
    // `a$b$` is a name that contains dollar signs.
    let in_name = before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    let tag_end = 1 + name(&text[1..]).len();
    if in_name || !text[tag_end..].starts_with('$') {
        return Ok(1);
    }
    let tag = &text[..=tag_end];
    text[tag.len()..]
        .find(tag)
        .map(|at| at + 2 * tag.len())
        .ok_or_else(|| unclosed(&format!("{tag} quotation")))
}

fn unclosed(what: &str) -> SqlError {
    let what: String = what.chars().take(40).collect();
    SqlError {
        found: format!("`{what}` that is never closed"),
        expected: "closed quotes and comments",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_placeholders() {
        let cases = [
            ("SELECT :a, :b, :a", "SELECT ?1, ?2, ?3", "a b a"),
            ("SELECT ':a' || \":b\" || `:c` || :d ;", "SELECT ':a' || \":b\" || `:c` || ?1 ", "d"),
            ("SELECT 'it''s :a', :b", "SELECT 'it''s :a', ?1", "b"),
            ("SELECT :a::text -- :b\n, :c", "SELECT ?1::text -- :b\n, ?2", "a c"),
            ("SELECT /* :a */ x[1:2] /*:b*/", "SELECT /* :a */ x[1:2] /*:b*/", ""),
            ("SELECT $$:a$$, $t$ $$ :b $t$, :c", "SELECT $$:a$$, $t$ $$ :b $t$, ?1", "c"),
            ("SET @x := :v_1", "SET @x := ?1", "v_1"),
            ("SELECT a$b$:c", "SELECT a$b$?1", "c"),
            ("SELECT :é", "SELECT ?1", "é"),
        ];
        for (sql, text, names) in cases {
            let compiled = compile(sql).expect(sql);
            assert_eq!((compiled.text.as_str(), compiled.names.join(" ").as_str()), (text, names));
        }
    }

    #[test]
    fn compiled_sql_falls_into_the_pieces_between_its_placeholders() {
        let cases = [
            ("SELECT 1", &["SELECT 1"][..]),
            ("SELECT :a, ':b?', :a::int -- ? :c", &["SELECT ", ", ':b?', ", "::int -- ? :c"]),
            ("SELECT $$?1$$ || :a", &["SELECT $$?1$$ || ", ""]),
        ];
        for (sql, expected) in cases {
            let compiled = compile(sql).expect(sql);
            assert_eq!(pieces(&compiled.text), expected);
        }
    }

    #[test]
    fn what_cannot_be_prepared_is_refused() {
        for bad in
            ["", " ; ", "SELECT ?", "SELECT ?1", "SELECT 1; SELECT 2", "SELECT 'x", "/* x", "$a$ x"]
        {
            assert!(compile(bad).is_err(), "{bad}");
        }
    }
}
