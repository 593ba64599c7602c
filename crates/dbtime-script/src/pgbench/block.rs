//! Which SQL commands open and close transaction blocks, told by their first words: a failed
//! transaction has to be rolled back, and none may stay open behind a script.

use super::scan::{ScanStop, SqlScanner};

/// What a command does to the transaction block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockEffect {
    /// Whether a block is open behind it; `None`: as before.
    pub leaves_open: Option<bool>,
    /// Whether one of its statements opens a block: it may be open when the command fails.
    pub opens: bool,
}

impl BlockEffect {
    /// The effect of a command, all its statements taken together.
    pub(super) fn of(sql: &str) -> Self {
        let mut scanner = SqlScanner::new(sql);
        let mut effect = Self::default();
        loop {
            let (statement, stop) = scanner.command();
            if let Some(is_open) = leaves_open(&statement) {
                effect.leaves_open = Some(is_open);
                effect.opens |= is_open;
            }
            if stop == ScanStop::End {
                return effect;
            }
        }
    }
}

/// Whether a block is open behind a statement; `None` where it changes nothing.
fn leaves_open(statement: &str) -> Option<bool> {
    let mut rest = statement.trim_ascii_start();
    while let Some(after) = skip_comment(rest) {
        rest = after.trim_ascii_start();
    }
    let words: Vec<_> = rest
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .take(5)
        .collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let chains = words.windows(2).any(|pair| pair == ["and", "chain"]);
    match words[..] {
        ["begin", ..] | ["start", "transaction", ..] => Some(true),
        ["rollback", "to", ..] | ["rollback", "work" | "transaction", "to", ..] => None,
        ["rollback" | "commit", "prepared", ..] => None,
        ["commit" | "end" | "rollback" | "abort", ..] => Some(chains),
        ["prepare", "transaction", ..] => Some(false),
        _ => None,
    }
}

/// What follows a comment at the beginning.
fn skip_comment(text: &str) -> Option<&str> {
    if text.starts_with("--") {
        return text.split_once('\n').map(|(_, after)| after);
    }
    text.strip_prefix("/*")?.split_once("*/").map(|(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell_where_a_block_begins_and_ends() {
        let cases = [
            ("BEGIN;", Some(true), true),
            ("start transaction read only;", Some(true), true),
            ("/* a */ -- b\nbegin isolation level serializable;", Some(true), true),
            ("end", Some(false), false),
            ("COMMIT;", Some(false), false),
            ("commit and chain;", Some(true), true),
            ("commit and no chain;", Some(false), false),
            ("rollback to s;", None, false),
            ("rollback work;", Some(false), false),
            ("abort", Some(false), false),
            ("commit prepared 'x'", None, false),
            ("select 'begin';", None, false),
            ("begin; select 1; end;", Some(false), true),
            ("", None, false),
        ];
        for (sql, leaves_open, opens) in cases {
            assert_eq!(BlockEffect::of(sql), BlockEffect { leaves_open, opens }, "{sql}");
        }
    }
}
