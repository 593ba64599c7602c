//! What the server says went wrong.

use crate::bytes::ByteCursor;

/// What the server says went wrong (ErrorResponse), or just says (NoticeResponse).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresError {
    /// ERROR, FATAL, PANIC, or a level of notice; in the server's language before 9.6.
    pub severity: String,
    /// SQLSTATE, five characters, such as `40P01`.
    pub code: String,
    /// In its own words.
    pub message: String,
    /// More about it; empty where there is none.
    pub detail: String,
    /// What to do about it; empty where the server knows nothing.
    pub hint: String,
    /// Where in the server's work it happened, innermost first; empty where it does not say.
    pub context: String,
    /// Which character of the statement it is about, counted from 1; 0: it does not say.
    pub position: u32,
    /// The same of `internal_query`.
    pub internal_position: u32,
    /// A statement that the server has made itself, as in a function; empty where it was none.
    pub internal_query: String,
    /// The file of the server's source that reports it.
    pub file: String,
    /// The function there that does.
    pub function: String,
}

/// An SQLSTATE has so many, and what has more is none that anybody could know.
const SQLSTATE_CHARS: usize = 5;

impl PostgresError {
    /// Reads the payload of a message; a field that is cut off is left as far as it goes.
    pub fn read(payload: &[u8]) -> Self {
        let mut error = Self::default();
        let mut bytes = ByteCursor(payload);
        let mut is_plain = false;
        while let Some(field @ 1..) = bytes.u8() {
            let rest = bytes.0;
            let text = bytes.until_zero().unwrap_or(rest);
            let text = || String::from_utf8_lossy(text).into_owned();
            match field {
                // V is S without translation, and comes after it.
                b'V' => (error.severity, is_plain) = (text(), true),
                b'S' if !is_plain => error.severity = text(),
                b'C' => error.code = text().chars().take(SQLSTATE_CHARS).collect(),
                b'M' => error.message = text(),
                b'D' => error.detail = text(),
                b'H' => error.hint = text(),
                b'W' => error.context = text(),
                b'P' => error.position = text().parse().unwrap_or(0),
                b'p' => error.internal_position = text().parse().unwrap_or(0),
                b'q' => error.internal_query = text(),
                b'F' => error.file = text(),
                b'R' => error.function = text(),
                _ => {}
            }
            if bytes.0.len() == rest.len() {
                break;
            }
        }
        error
    }

    /// Whether the server ends the connection after it.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_apart() {
        let payload = b"SFEHLER\0VERROR\0C40P01\0MVerklemmung\0Dwho\0Hwhat\0Wwhere\0P7\0p2\0\
                        qS 1\0Fdeadlock.c\0L1\0RReport\0\0";
        let error = PostgresError::read(payload);
        let texts = [&error.severity, &error.code, &error.message, &error.detail, &error.hint];
        assert_eq!(texts, ["ERROR", "40P01", "Verklemmung", "who", "what"]);
        assert_eq!(error.context, "where");
        let internal = (error.internal_position, error.internal_query.as_str());
        assert_eq!((error.position, internal), (7, (2, "S 1")));
        assert_eq!((error.file.as_str(), error.function.as_str()), ("deadlock.c", "Report"));
        assert!(!error.is_fatal());
        assert!(PostgresError::read(b"SFATAL\0C57P01\0Mbye\0\0").is_fatal());
    }

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_goes() {
        let error = PostgresError::read(b"SERROR\0C22012\0Mdivision by");
        assert_eq!((error.code.as_str(), error.message.as_str()), ("22012", "division by"));
        assert_eq!(PostgresError::read(b""), PostgresError::default());
        assert_eq!(PostgresError::read(b"C22012 and more\0\0").code, "22012");
    }
}
