//! What a statement is answered with, whichever protocol it came by.

/// The answer to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NullReply {
    /// One row: the number 1.
    One,
    /// One row: the number 0. So many things are in the catalogue.
    Zero,
    /// One row: the server's version.
    Version,
    /// Two columns and no rows: the server has no settings, its catalogue is empty, and it knows
    /// its sessions by no number.
    Empty,
    /// Success, in PostgreSQL's words.
    Done(&'static str),
    Refused,
}

/// Bytes of the longest first word that means something here.
const MAX_KEYWORD_BYTES: usize = 10;

impl NullReply {
    /// The answer to this text.
    pub(crate) fn to(sql: &[u8]) -> Self {
        let sql = sql.trim_ascii_start();
        let end = sql.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(sql.len());
        let mut word = [0; MAX_KEYWORD_BYTES];
        let Some(lower) = word.get_mut(..end) else { return Self::Done("OK") };
        lower.copy_from_slice(&sql[..end]);
        lower.make_ascii_lowercase();
        match &*lower {
            b"select" | b"values" | b"with" | b"table" | b"" => Self::to_query(sql),
            b"show" | b"desc" | b"describe" | b"explain" => Self::Empty,
            b"begin" | b"start" => Self::Done("BEGIN"),
            b"commit" | b"end" => Self::Done("COMMIT"),
            b"rollback" | b"abort" => Self::Done("ROLLBACK"),
            b"set" => Self::Done("SET"),
            b"insert" => Self::Done("INSERT 0 1"),
            b"update" => Self::Done("UPDATE 1"),
            b"delete" => Self::Done("DELETE 1"),
            b"copy" | b"load" => Self::Refused,
            _ => Self::Done("OK"),
        }
    }

    fn to_query(sql: &[u8]) -> Self {
        let mentions = |name: &[u8]| contains(sql, name);
        match mentions(b"information_schema") || mentions(b"pg_") {
            true if mentions(b"count(") => Self::Zero,
            true => Self::Empty,
            false if mentions(b"version()") => Self::Version,
            false if mentions(b"connection_id()") => Self::Empty,
            false => Self::One,
        }
    }

    /// Whether the statement counts as load, and can be hit by what goes wrong.
    pub(crate) fn is_load(self) -> bool {
        self == Self::One
    }

    /// The number in its row.
    pub(crate) fn number(self) -> Option<u8> {
        match self {
            Self::One => Some(1),
            Self::Zero => Some(0),
            Self::Version | Self::Empty | Self::Done(_) | Self::Refused => None,
        }
    }

    /// Whether there is a result at all.
    pub(crate) fn has_columns(self) -> bool {
        !matches!(self, Self::Done(_) | Self::Refused)
    }
}

/// Whether `word`, in small letters, is part of `text` in whatever letters.
fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_first_word() {
        let cases: [(&str, NullReply); 12] = [
            ("SELECT VERSION()", NullReply::Version),
            ("SELECT CONNECTION_ID()", NullReply::Empty),
            ("SELECT 1", NullReply::One),
            ("  select c FROM sbtest1 WHERE id = ?", NullReply::One),
            ("(SELECT 1)", NullReply::One),
            ("SHOW GLOBAL STATUS", NullReply::Empty),
            ("SELECT COUNT(*) FROM information_schema.tables", NullReply::Zero),
            ("SELECT name, setting FROM pg_settings", NullReply::Empty),
            ("BEGIN", NullReply::Done("BEGIN")),
            ("START TRANSACTION", NullReply::Done("BEGIN")),
            ("DEALLOCATE PREPARE x", NullReply::Done("OK")),
            ("COPY t FROM STDIN", NullReply::Refused),
        ];
        for (sql, wanted) in cases {
            assert_eq!(NullReply::to(sql.as_bytes()), wanted, "{sql}");
        }
    }
}
