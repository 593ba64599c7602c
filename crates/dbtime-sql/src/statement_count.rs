//! How many statements a text has, as far as that can be told without its grammar.

use crate::joint_lexer::JointLexer;
use crate::lexer::TokenKind;
use crate::lexical_rules::LexicalRules;

/// Whether there may be several statements in a text: a semicolon outside of literals and comments,
/// in one of the ways that the rules leave open.
pub fn may_have_several(sql: impl AsRef<[u8]>, rules: &LexicalRules) -> bool {
    JointLexer::new(sql.as_ref(), rules).any(|token| {
        token.kind == TokenKind::Unclear || token.kind == TokenKind::Symbol && token.bytes == b";"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::SqlDialect;

    #[test]
    fn semicolons_of_literals_and_comments_end_no_statement() {
        let rules = LexicalRules::unknown(SqlDialect::Postgres);
        for one in [
            "DO $$ BEGIN NULL; END $$",
            "SELECT 1 /* a; /* b; */ ; */ -- c;",
            r#"SELECT ';' AS ";", E'\';'"#,
        ] {
            assert!(!may_have_several(one, &rules), "{one}");
        }
        for several in ["SELECT 1; SELECT 2", "SELECT $1;", r"SELECT '\'; SELECT 2 --'"] {
            assert!(may_have_several(several, &rules), "{several}");
        }
    }
}
