//! What names the classes of statements.

use super::memo::{LONGEST, NameMemo};
use crate::logs::ClassNamer;
use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, PerconaRules, fingerprint, literal_shape, percona_fingerprint};

/// Names a statement by its fingerprint, of which there is one for all texts of a shape.
pub(super) struct FingerprintNamer {
    rules: LexicalRules,
    shapes: NameMemo,
    /// Of texts that have no shape.
    texts: NameMemo,
    shape: Vec<u8>,
}

impl FingerprintNamer {
    /// One for the statements of a dialect; a log does not show how its sessions were set.
    pub(super) fn new(dialect: SqlDialect) -> Self {
        let rules = LexicalRules::unknown(dialect);
        let (shapes, texts) = (NameMemo::default(), NameMemo::default());
        Self { rules, shapes, texts, shape: Vec::new() }
    }
}

impl ClassNamer for FingerprintNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        let Self { rules, shapes, texts, shape } = self;
        let make = |out: &mut String| fingerprint(text, rules, out);
        match text.len() <= LONGEST && literal_shape(text, shape) {
            true => shapes.name(shape, out, make),
            false => texts.name(text, out, make),
        }
    }
}

/// Names a statement as Percona's tools do.
pub(super) struct PerconaNamer {
    rules: PerconaRules,
    memo: NameMemo,
    bytes: Vec<u8>,
}

impl PerconaNamer {
    /// One by the rules of some of their versions.
    pub(super) fn new(rules: PerconaRules) -> Self {
        Self { rules, memo: NameMemo::default(), bytes: Vec::new() }
    }
}

impl ClassNamer for PerconaNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        let (rules, bytes) = (self.rules, &mut self.bytes);
        self.memo.name(text, out, |out| {
            bytes.clear();
            percona_fingerprint(text, rules, bytes);
            out.clear();
            out.push_str(&String::from_utf8_lossy(bytes));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_differ_in_literals_have_one_name() {
        let mut names = FingerprintNamer::new(SqlDialect::Mysql);
        let mut out = String::new();
        let texts =
            ["SELECT 1 FROM t", "SELECT 22 FROM t", "SELECT  'a''b' FROM t", "SELECT 1 FROM t"];
        for sql in texts {
            names.name(sql.as_bytes(), &mut out);
            assert_eq!(out, "SELECT ? FROM t");
        }
    }

    #[test]
    fn percona_names_are_those_of_its_tools() {
        let mut names = PerconaNamer::new(PerconaRules::Current);
        let mut out = String::new();
        for _ in 0..2 {
            names.name(b"SELECT c FROM t1 WHERE id=42", &mut out);
            assert_eq!(out, "select c from t? where id=?");
        }
    }
}
