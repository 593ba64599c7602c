//! Which statements of a transaction may be sent before those ahead of them have been answered.
//!
//! What is under way is executed whatever becomes of the statement ahead of it. So nothing may
//! follow that would do harm once that has failed: a write that runs outside of its transaction
//! because a deadlock has ended it, or a COMMIT of half a transaction.

use crate::statement::StatementKind;

/// How far statements may be sent ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipelining {
    /// Each waits for the answer to the one before.
    #[default]
    Off,
    /// Behind BEGIN and reads, whose failure does not end the transaction. For servers that execute
    /// what follows a failure (MySQL, MariaDB).
    BehindReads,
    /// All of a transaction, COMMIT included. For servers that refuse what follows a failure until
    /// the transaction is over (PostgreSQL).
    Transaction,
}

/// What a statement may do to those under way with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementClass {
    Begin,
    /// Changes nothing and locks nothing.
    Read,
    Write,
    /// COMMIT or ROLLBACK.
    End,
    /// Definitions, settings, calls, copies: always alone.
    Other,
}

impl StatementClass {
    pub(crate) fn of(kind: &StatementKind) -> Self {
        match kind {
            StatementKind::Begin { .. } => Self::Begin,
            StatementKind::Commit | StatementKind::Rollback => Self::End,
            StatementKind::Sql(sql) => Self::of_sql(&sql.to_ascii_lowercase()),
        }
    }

    fn of_sql(sql: &str) -> Self {
        let words: Vec<&str> = sql.split_ascii_whitespace().collect();
        let locks = || {
            let two = |pair: &[&str]| matches!(pair, ["for", "update" | "share" | "no" | "key"]);
            words.windows(2).any(two) || words.contains(&"lock") || words.contains(&"into")
        };
        match words.first() {
            Some(&"select") if !locks() => Self::Read,
            Some(&("select" | "insert" | "update" | "delete" | "replace")) => Self::Write,
            _ => Self::Other,
        }
    }
}

impl Pipelining {
    /// Whether a statement may be sent while those `under_way` have not been answered.
    /// `is_inside`: a transaction had begun before them.
    pub(crate) fn lets(
        self,
        next: StatementClass,
        is_inside: bool,
        mut under_way: impl Iterator<Item = StatementClass> + Clone,
    ) -> bool {
        let is_inside = is_inside || under_way.clone().any(|sort| sort == StatementClass::Begin);
        let is_harmless = |sort| matches!(sort, StatementClass::Begin | StatementClass::Read);
        let is_dangerous = |sort| matches!(sort, StatementClass::End | StatementClass::Other);
        match (self, next) {
            (Self::Off, _) | (_, StatementClass::Other) => false,
            (Self::Transaction, _) if is_inside => !under_way.any(is_dangerous),
            (_, StatementClass::End) => false,
            (_, StatementClass::Write) if !is_inside => false,
            _ => under_way.all(is_harmless),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pipelining::{BehindReads, Off, Transaction};
    use super::StatementClass::{Begin, End, Other, Read, Write};
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        let sort = |sql: &str| StatementClass::of(&StatementKind::Sql(sql.to_owned()));
        assert_eq!(sort("SELECT c FROM t WHERE id = ?1"), Read);
        assert_eq!(sort("select c from t for\nupdate"), Write);
        assert_eq!(sort("SELECT c FROM t LOCK IN SHARE MODE"), Write);
        assert_eq!(sort("UPDATE t SET c = 1"), Write);
        assert_eq!(sort("CALL p()"), Other);
        assert_eq!(sort(""), Other);
    }

    #[test]
    fn nothing_follows_what_may_fail_where_it_would_be_executed() {
        let lets = |how: Pipelining, next, inside, under_way: &[StatementClass]| {
            how.lets(next, inside, under_way.iter().copied())
        };
        assert!(!lets(Off, Read, true, &[Read]));
        assert!(lets(BehindReads, Write, false, &[Begin, Read]));
        assert!(!lets(BehindReads, Read, true, &[Write]), "a deadlock ends the transaction");
        assert!(!lets(BehindReads, End, true, &[Read]), "half of it would be committed");
        assert!(!lets(BehindReads, Write, false, &[Read]), "each is a transaction of its own");
        assert!(lets(Transaction, End, false, &[Begin, Read, Write]));
        assert!(!lets(Transaction, Begin, false, &[Begin, Write, End]));
        assert!(!lets(Transaction, Other, true, &[Begin]));
        assert!(!lets(Transaction, Read, true, &[Other]));
    }
}
