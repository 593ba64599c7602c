//! The three built-in scripts, and how `-b` and `-f` name scripts and weights.

use super::dialect::Dialect;

/// A built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name for `-b`.
    pub name: &'static str,
    /// Its name in reports.
    pub description: &'static str,
    statements: &'static [&'static str],
}

const ACCOUNT: &str = "\\set aid random(1, 100000 * :scale)";
const BRANCH: &str = "\\set bid random(1, 1 * :scale)";
const TELLER: &str = "\\set tid random(1, 10 * :scale)";
const DELTA: &str = "\\set delta random(-5000, 5000)";
const UPDATE_ACCOUNT: &str =
    "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;";
const SELECT_ACCOUNT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;";
const UPDATE_TELLER: &str =
    "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;";
const UPDATE_BRANCH: &str =
    "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;";
const INSERT_HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                              VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);";
const BEGIN: &str = "BEGIN;";
const END: &str = "END;";

/// The built-in scripts, in the order of `-b list`.
pub const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        statements: &[
            ACCOUNT,
            BRANCH,
            TELLER,
            DELTA,
            BEGIN,
            UPDATE_ACCOUNT,
            SELECT_ACCOUNT,
            UPDATE_TELLER,
            UPDATE_BRANCH,
            INSERT_HISTORY,
            END,
        ],
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        statements: &[
            ACCOUNT,
            BRANCH,
            TELLER,
            DELTA,
            BEGIN,
            UPDATE_ACCOUNT,
            SELECT_ACCOUNT,
            INSERT_HISTORY,
            END,
        ],
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        statements: &[ACCOUNT, SELECT_ACCOUNT],
    },
];

impl Builtin {
    /// Its text. `END` is COMMIT where the database knows no other.
    pub fn text(&self, dialect: Dialect) -> String {
        let line = |statement: &&'static str| match (*statement, dialect) {
            (END, Dialect::Mysql | Dialect::Sqlite) => "COMMIT;\n".to_owned(),
            (other, _) => format!("{other}\n"),
        };
        self.statements.iter().map(line).collect()
    }
}

/// What `-b list` prints.
pub fn list() -> String {
    let lines =
        BUILTINS.iter().map(|script| format!("  {:>13}: {}\n", script.name, script.description));
    format!("Available builtin scripts:\n{}", lines.collect::<String>())
}

/// The built-in script whose name begins so.
///
/// # Errors
/// None does, or several do; the message lists them.
pub fn find(name: &str) -> Result<&'static Builtin, String> {
    static ALL: [Builtin; 3] = BUILTINS;
    let found: Vec<_> = ALL.iter().filter(|script| script.name.starts_with(name)).collect();
    match found[..] {
        [script] => Ok(script),
        [] => Err(format!("no builtin script found for name \"{name}\"\n{}", list())),
        _ => Err(format!(
            "ambiguous builtin name: {} builtin scripts found for prefix \"{name}\"\n{}",
            found.len(),
            list()
        )),
    }
}

/// Splits `NAME@WEIGHT` at its last `@`; without one the weight is 1.
///
/// # Errors
/// The weight is no number, or not in `0..=2147483647`.
pub fn split_weight(option: &str) -> Result<(&str, u32), String> {
    let Some((name, weight)) = option.rsplit_once('@') else { return Ok((option, 1)) };
    let number: i64 = weight
        .trim_ascii_start()
        .parse()
        .map_err(|_| format!("invalid weight specification: @{weight}"))?;
    match u32::try_from(number) {
        Ok(weight) if weight <= i32::MAX as u32 => Ok((name, weight)),
        _ => Err(format!("weight specification out of range (0 .. {}): {number}", i32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::{names::Names, reader};

    #[test]
    fn names_may_be_short_but_not_ambiguous() {
        assert_eq!(find("t").map(|script| script.name), Ok("tpcb-like"));
        assert_eq!(find("se").map(|script| script.name), Ok("select-only"));
        let error = find("s").unwrap_err();
        assert!(
            error.starts_with("ambiguous builtin name: 2 builtin scripts found for prefix \"s\"")
        );
        assert!(find("x").unwrap_err().ends_with("    select-only: <builtin: select only>\n"));
    }

    #[test]
    fn weights_follow_the_last_at() {
        assert_eq!(split_weight("a@b@3"), Ok(("a@b", 3)));
        assert_eq!(split_weight("a"), Ok(("a", 1)));
        assert_eq!(split_weight("a@0"), Ok(("a", 0)));
        assert_eq!(split_weight("a@x").unwrap_err(), "invalid weight specification: @x");
        let error = split_weight("a@-1").unwrap_err();
        assert_eq!(error, "weight specification out of range (0 .. 2147483647): -1");
    }

    #[test]
    fn every_script_can_be_read() {
        for script in BUILTINS {
            for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite] {
                let text = script.text(dialect);
                let read = reader::parse(script.description, &text, &mut Names::default());
                assert_eq!(read.expect("a script").commands.len(), script.statements.len());
                let is_whole = dialect != Dialect::Postgres || !text.contains("COMMIT");
                assert!(is_whole && (dialect == Dialect::Postgres || !text.contains("END")));
            }
        }
    }
}
