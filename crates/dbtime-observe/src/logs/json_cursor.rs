//! Goes through a line of JSON without building anything of it, so that no line takes more memory
//! than its bytes.

use dbtime_model::log_digest::UnreadReason;
use memchr::memchr2;
use std::ops::Range;

/// A place in a line. Ranges are of the block.
#[derive(Clone, Debug)]
pub(super) struct JsonCursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// A value. An object or an array is still to be opened or skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonValue {
    /// A text, with or without backslashes in it.
    Text(Range<usize>, bool),
    /// A number, `true` or `false`.
    Plain(Range<usize>),
    /// `null`.
    Null,
    /// It begins here.
    Object,
    /// It begins here.
    Array,
}

impl<'a> JsonCursor<'a> {
    /// At the beginning of a line.
    pub(super) fn new(block: &'a [u8], line: Range<usize>) -> Self {
        Self { text: &block[..line.end], at: line.start }
    }

    /// Where the next thing begins in the block.
    pub(super) fn next_at(&mut self) -> usize {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.at
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.next_at() == self.text.len()
    }

    fn peek(&mut self) -> Result<u8, UnreadReason> {
        let at = self.next_at();
        self.text.get(at).copied().ok_or(UnreadReason::Incomplete)
    }

    /// Enters an object or an array by its bracket.
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), UnreadReason> {
        if self.peek()? != bracket {
            return Err(UnreadReason::Form);
        }
        self.at += 1;
        Ok(())
    }

    /// The next key of the object that was opened last; `None`: it has ended.
    pub(super) fn key(&mut self) -> Result<Option<Range<usize>>, UnreadReason> {
        if self.is_closed(b'}')? {
            return Ok(None);
        }
        let (key, _) = self.string()?;
        self.open(b':')?;
        Ok(Some(key))
    }

    /// Whether the array that was opened last has another value.
    pub(super) fn has_item(&mut self) -> Result<bool, UnreadReason> {
        Ok(!self.is_closed(b']')?)
    }

    fn is_closed(&mut self, bracket: u8) -> Result<bool, UnreadReason> {
        if self.peek()? == b',' {
            self.at += 1;
        }
        let is_closed = self.peek()? == bracket;
        self.at += usize::from(is_closed);
        Ok(is_closed)
    }

    /// Reads a value, or stands before the bracket of one.
    pub(super) fn value(&mut self) -> Result<JsonValue, UnreadReason> {
        match self.peek()? {
            b'"' => self.string().map(|(range, has_escapes)| JsonValue::Text(range, has_escapes)),
            b'{' => Ok(JsonValue::Object),
            b'[' => Ok(JsonValue::Array),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let range = self.at..self.at + self.plain_length();
                self.at = range.end;
                let is_null = self.text[range.clone()] == *b"null";
                Ok(if is_null { JsonValue::Null } else { JsonValue::Plain(range) })
            }
            _ => Err(UnreadReason::Form),
        }
    }

    fn plain_length(&self) -> usize {
        let is_plain =
            |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        self.text[self.at..].iter().take_while(is_plain).count()
    }

    /// A text without its quotes, and whether it has backslashes.
    fn string(&mut self) -> Result<(Range<usize>, bool), UnreadReason> {
        self.open(b'"')?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let length = memchr2(b'"', b'\\', rest).ok_or(UnreadReason::Incomplete)?;
            self.at += length + 1;
            if rest[length] == b'"' {
                return Ok((start..self.at - 1, has_escapes));
            }
            has_escapes = true;
            self.at += 1;
        }
    }

    /// Passes over a value, whatever is in it.
    pub(super) fn skip(&mut self) -> Result<(), UnreadReason> {
        if !matches!(self.value()?, JsonValue::Object | JsonValue::Array) {
            return Ok(());
        }
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// The first quote without a backslash.
pub(super) fn quote_at(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[found] == b'"' {
            return Some(found);
        }
        at = found + 2;
    }
}

/// Writes a text without its backslashes; what they have of no character becomes U+FFFD.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let Some((letter, behind)) = rest[at + 1..].split_first() else {
            return;
        };
        rest = behind;
        match *letter {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let (letter, behind) = code_point(rest);
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = behind;
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
}

/// The character of `\u0026` or of two such halves, and what is behind it.
fn code_point(text: &[u8]) -> (char, &[u8]) {
    let Some((first, behind)) = unit(text) else {
        return (char::REPLACEMENT_CHARACTER, text);
    };
    let second = behind.strip_prefix(b"\\u").and_then(unit);
    let is_pair = (0xd800..0xdc00).contains(&first);
    match second.filter(|(low, _)| is_pair && (0xdc00..0xe000).contains(low)) {
        Some((low, rest)) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
        }
        None => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), behind),
    }
}

/// Four hexadecimal digits, and what is behind them.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let code = digits.iter().try_fold(0, |code, byte| Some(code * 16 + digit(byte)?))?;
    Some((code, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_and_passed_over() {
        let text = br#"{"a" : {"b":["]",{}]} , "c\"":"x\"y","d":-1.5e3,"e":null}"#;
        let mut cursor = JsonCursor::new(text, 0..text.len());
        cursor.open(b'{').expect("an object");
        let mut found = Vec::new();
        while let Some(key) = cursor.key().expect("a key") {
            let value = cursor.value().expect("a value");
            if value == JsonValue::Object {
                cursor.skip().expect("a whole object");
            }
            found.push((String::from_utf8_lossy(&text[key]).into_owned(), value));
        }
        assert!(cursor.is_at_end());
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "c\\\"", "d", "e"]);
        assert!(
            matches!(&found[1].1, JsonValue::Text(range, true) if text[range.clone()] == *b"x\\\"y")
        );
        assert!(
            matches!(&found[2].1, JsonValue::Plain(range) if text[range.clone()] == *b"-1.5e3")
        );
        assert_eq!(found[3].1, JsonValue::Null);
    }

    #[test]
    fn what_is_cut_or_no_json_ends() {
        let text = br#"{"a":[{"b":"c\\"},1]}"#;
        for end in 0..text.len() {
            let mut cursor = JsonCursor::new(text, 0..end);
            assert_eq!(cursor.skip(), Err(UnreadReason::Incomplete), "{end}");
        }
        for wrong in ["}", "?", ",", ":"] {
            let mut cursor = JsonCursor::new(wrong.as_bytes(), 0..1);
            assert_eq!(cursor.skip(), Err(UnreadReason::Form), "{wrong}");
        }
        let deep = "[".repeat(1 << 20);
        let mut cursor = JsonCursor::new(deep.as_bytes(), 0..deep.len());
        assert_eq!(cursor.skip(), Err(UnreadReason::Incomplete));
    }

    #[test]
    fn backslashes_are_resolved() {
        for (text, whole) in [
            (r"/a?b=1\u0026c=2", "/a?b=1&c=2"),
            (r#"\"\\\/\n"#, "\"\\/\n"),
            (r"\ud83d\ude00!", "\u{1f600}!"),
            (r"\ud83d!", "\u{fffd}!"),
            (r"\uzz", "\u{fffd}zz"),
            ("\\", ""),
        ] {
            let mut out = Vec::new();
            unescape(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), whole, "{text}");
        }
    }
}
