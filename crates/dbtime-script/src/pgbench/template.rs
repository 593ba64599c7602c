//! Statements with `:name` in them: as a text to fill in, or as one with placeholders.
//!
//! A name is found wherever it stands, in quotes too, as pgbench does it; `::` begins none.

use super::names::{self, NameSlot, NameTable};
use super::parse_error::ScriptParseError;
use super::variables::ClientVariables;
use dbtime_sql::without_passwords;

/// Most parameters of a statement with placeholders.
pub(super) const MAX_PARAMETERS: usize = 255;

/// How a database writes a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// `$1`, `$2`, …
    Numbered,
    Mark,
}

/// A statement cut at its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementTemplate {
    /// What stands before each variable.
    parts: Vec<(String, NameSlot)>,
    /// What stands behind the last.
    tail: String,
}

impl StatementTemplate {
    /// Cuts a statement.
    pub(crate) fn new(sql: &str, names: &mut NameTable) -> Self {
        let mut parts = Vec::new();
        let mut done = 0;
        let mut at = 0;
        while let Some(colon) = sql[at..].find(':').map(|found| at + found) {
            let name = name_at(&sql[colon + 1..]);
            if name.is_empty() {
                let colons = sql[colon..].bytes().take_while(|byte| *byte == b':').count();
                at = colon + colons;
                continue;
            }
            parts.push((sql[done..colon].to_owned(), names.slot(name)));
            at = colon + 1 + name.len();
            done = at;
        }
        Self { parts, tail: sql[done..].to_owned() }
    }

    /// Writes it with its variables filled in; one that is not set stays as it is written.
    pub(crate) fn fill(&self, variables: &ClientVariables, out: &mut String) {
        for (before, slot) in &self.parts {
            out.push_str(before);
            if !variables.write(*slot, out) {
                out.push(':');
                out.push_str(variables.name(*slot));
            }
        }
        out.push_str(&self.tail);
    }

    /// The variables, in the order in which they are written.
    pub(crate) fn slots(&self) -> impl ExactSizeIterator<Item = NameSlot> + '_ {
        self.parts.iter().map(|(_, slot)| *slot)
    }

    /// The text with placeholders, a new one for each place.
    ///
    /// # Errors
    /// There are more than [`MAX_PARAMETERS`].
    pub(crate) fn with(&self, placeholder: Placeholder) -> Result<String, ScriptParseError> {
        let mut sql = String::new();
        for (index, (before, _)) in self.parts.iter().enumerate() {
            sql.push_str(before);
            match placeholder {
                Placeholder::Mark => sql.push('?'),
                Placeholder::Numbered => sql.push_str(&format!("${}", index + 1)),
            }
        }
        sql.push_str(&self.tail);
        if self.parts.len() > MAX_PARAMETERS {
            let shown = without_passwords(&sql).into_owned();
            return Err(ScriptParseError::TooManyParameters(shown));
        }
        Ok(sql)
    }
}

/// The name that a text begins with; empty where it begins with none.
fn name_at(text: &str) -> &str {
    if !text.bytes().next().is_some_and(names::begins_name) {
        return "";
    }
    &text[..text.bytes().take_while(|byte| names::continues_name(*byte)).count()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::value::ScriptValue;
    use std::sync::Arc;

    #[test]
    fn variables_are_filled_in_wherever_they_stand() {
        let mut names = NameTable::default();
        let sql = "select :a::int, ':b' at '10:30', :c:a, x::text, :::a, :é";
        let template = StatementTemplate::new(sql, &mut names);
        let (a, b) = (names.slot("a"), names.slot("b"));
        let mut variables = ClientVariables::new(Arc::new(names));
        variables.set("set", a, ScriptValue::Int(-5)).expect("a good name");
        variables.set_text("gset", b, "it's").expect("a good name");
        let mut out = String::new();
        template.fill(&variables, &mut out);
        assert_eq!(out, "select -5::int, 'it's' at '10:30', :c-5, x::text, :::a, :é");
    }

    #[test]
    fn placeholders_are_counted_by_place() {
        let mut names = NameTable::default();
        let template = StatementTemplate::new("select :a + :b, :a;", &mut names);
        let numbered = template.with(Placeholder::Numbered).expect("few parameters");
        assert_eq!(numbered, "select $1 + $2, $3;");
        assert_eq!(template.with(Placeholder::Mark).expect("few"), "select ? + ?, ?;");
        assert_eq!(template.slots().len(), 3);
        let many = StatementTemplate::new(&" :a".repeat(256), &mut names);
        let error = many.with(Placeholder::Numbered).unwrap_err().to_string();
        assert!(error.starts_with("statement has too many arguments (maximum is 255): "));
    }
}
