//! What is left of a statement without its literals, so that statements can be told apart.
//!
//! ```text
//!   SELECT c FROM t1 WHERE id=42 AND s='x'    SELECT c FROM t1 WHERE id=? AND s=?
//!   UPDATE t SET a = -1.5                     UPDATE t SET a = ?
//!   … IN (1, 2, 3)                            … IN (...)
//!   INSERT INTO t VALUES (1,'a'), (2,'b')     INSERT INTO t VALUES (...)
//! ```
//!
//! Comments are left out, and space is one blank. Text in double quotes counts as a string, as
//! MySQL has it. It reads no grammar: any bytes give some fingerprint.

/// Longer ones are cut: the rest of a statement seldom tells it apart.
const MAX_TEXT_BYTES: usize = 4096;

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Plain,
    Word,
    Digit,
    Space,
    Quote,
    /// May begin a comment, or `$1`.
    Other,
}

const CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => ByteClass::Word,
            b'0'..=b'9' => ByteClass::Digit,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => ByteClass::Space,
            b'\'' | b'"' | b'`' => ByteClass::Quote,
            b'/' | b'-' | b'#' | b'$' | b'(' => ByteClass::Other,
            _ => ByteClass::Plain,
        };
        byte += 1;
    }
    classes
};

/// Writes the fingerprint of a statement into `out`. Cost: about 2 ns per byte.
pub fn fingerprint(sql: &str, out: &mut String) {
    out.clear();
    let mut reader = FingerprintReader { sql, bytes: sql.as_bytes(), at: 0 };
    while reader.at < reader.bytes.len() && out.len() < MAX_TEXT_BYTES {
        reader.step(out);
    }
    out.truncate(out.trim_end().len());
}

struct FingerprintReader<'a> {
    sql: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl FingerprintReader<'_> {
    fn step(&mut self, out: &mut String) {
        let start = self.at;
        match CLASSES[usize::from(self.bytes[start])] {
            ByteClass::Plain => {
                self.skip(|class| class == ByteClass::Plain);
                out.push_str(&self.sql[start..self.at]);
            }
            ByteClass::Word => self.word(out),
            ByteClass::Digit => {
                self.skip_number();
                drop_sign(out);
                out.push('?');
            }
            ByteClass::Space => {
                self.skip(|class| class == ByteClass::Space);
                push_blank(out);
            }
            ByteClass::Quote => self.quoted(out),
            ByteClass::Other => self.other(out),
        }
    }

    #[inline]
    fn skip(&mut self, is_skipped: impl Fn(ByteClass) -> bool) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| !is_skipped(CLASSES[usize::from(byte)]));
        self.at += length.unwrap_or(rest.len());
    }

    /// A keyword or name; behind some keywords a list follows.
    fn word(&mut self, out: &mut String) {
        let start = self.at;
        self.skip(|class| matches!(class, ByteClass::Word | ByteClass::Digit));
        let word = &self.sql[start..self.at];
        out.push_str(word);
        let is_in = word.eq_ignore_ascii_case("in");
        if !is_in && !word.eq_ignore_ascii_case("values") {
            return;
        }
        let before = self.at;
        self.skip(|class| class == ByteClass::Space);
        if self.peek(0) != Some(b'(') || (is_in && self.is_subquery()) {
            self.at = before;
            return;
        }
        out.push_str(" (...)");
        self.skip_list();
    }

    /// Whether the parenthesis at hand holds a statement.
    fn is_subquery(&self) -> bool {
        let inside = self.sql[self.at + 1..].trim_start().as_bytes();
        let begins = |word: &[u8]| inside.len() >= 6 && inside[..6].eq_ignore_ascii_case(word);
        begins(b"select") || begins(b"values")
    }

    /// Parentheses with all that is in them, and more of them behind commas.
    fn skip_list(&mut self) {
        loop {
            self.skip_parentheses();
            let end = self.at;
            self.skip(|class| class == ByteClass::Space);
            if self.peek(0) == Some(b',') {
                self.at += 1;
                self.skip(|class| class == ByteClass::Space);
                if self.peek(0) == Some(b'(') {
                    continue;
                }
            }
            self.at = end;
            return;
        }
    }

    fn skip_parentheses(&mut self) {
        let mut depth = 0;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\'' | b'"' | b'`' => {
                    self.skip_quoted(byte);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn quoted(&mut self, out: &mut String) {
        let start = self.at;
        let quote = self.bytes[self.at];
        self.skip_quoted(quote);
        if quote == b'`' {
            out.push_str(&self.sql[start..self.at]);
        } else {
            out.push('?');
        }
    }

    /// From a quote to behind the one that closes it.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\\' && quote != b'`' && self.peek(0).is_some() {
                self.at += 1;
            } else if byte == quote {
                if self.peek(0) != Some(quote) {
                    return;
                }
                self.at += 1;
            }
        }
    }

    /// Digits with all that belongs to a number: `0x1f`, `1.5`, `2e-3`.
    fn skip_number(&mut self) {
        while let Some(byte) = self.peek(0) {
            let is_sign = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[self.at - 1], b'e' | b'E')
                && self.peek(1).is_some_and(|next| next.is_ascii_digit());
            if !byte.is_ascii_alphanumeric() && byte != b'.' && !is_sign {
                return;
            }
            self.at += 1;
        }
    }

    fn other(&mut self, out: &mut String) {
        match (self.bytes[self.at], self.peek(1)) {
            (b'/', Some(b'*')) => {
                let end = self.sql[self.at + 2..].find("*/");
                self.at = end.map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
                push_blank(out);
            }
            (b'-', Some(b'-')) | (b'#', _) => {
                let end = self.sql[self.at..].find('\n');
                self.at = end.map_or(self.bytes.len(), |end| self.at + end);
            }
            (b'$', Some(b'0'..=b'9')) => {
                self.at += 1;
                self.skip(|class| class == ByteClass::Digit);
                out.push('?');
            }
            (byte, _) => {
                self.at += 1;
                out.push(char::from(byte));
            }
        }
    }

    #[inline]
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }
}

/// A minus behind an operator or a parenthesis belongs to the number that follows; behind a name or
/// a value it subtracts.
fn drop_sign(out: &mut String) {
    let before = out.strip_suffix('-').and_then(|before| before.trim_end().bytes().last());
    if before.is_some_and(|byte| matches!(byte, b'=' | b'<' | b'>' | b'(' | b',' | b'+' | b'*')) {
        out.pop();
    }
}

fn push_blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> String {
        let mut out = String::from("left over");
        fingerprint(sql, &mut out);
        out
    }

    #[test]
    fn literals_become_question_marks() {
        assert_eq!(
            of("SELECT c FROM sbtest12 WHERE id=42 AND s = 'it''s' OR r<-1.5e-3-2 - 1"),
            "SELECT c FROM sbtest12 WHERE id=? AND s = ? OR r<?-? - ?"
        );
        assert_eq!(of(r#"UPDATE t SET a="x\"y", b=0x1F, c=$12"#), "UPDATE t SET a=?, b=?, c=?");
        assert_eq!(of("SELECT f(-1, -0x2f), a -3 FROM t"), "SELECT f(?, ?), a -? FROM t");
        assert_eq!(of("SELECT `a b1` FROM t WHERE id=?"), "SELECT `a b1` FROM t WHERE id=?");
    }

    #[test]
    fn lists_collapse_and_subqueries_do_not() {
        assert_eq!(of("SELECT a FROM t WHERE k IN(1,2, 3) AND b=1"), {
            "SELECT a FROM t WHERE k IN (...) AND b=?"
        });
        assert_eq!(of("SELECT a FROM t WHERE k in ( SELECT k FROM u WHERE v=3)"), {
            "SELECT a FROM t WHERE k in ( SELECT k FROM u WHERE v=?)"
        });
        assert_eq!(
            of("INSERT INTO t(a,b) VALUES (1,NOW(2)), (2, ')'),(3,4) ON CONFLICT DO NOTHING"),
            "INSERT INTO t(a,b) VALUES (...) ON CONFLICT DO NOTHING"
        );
        assert_eq!(of("INSERT INTO t VALUES(1),"), "INSERT INTO t VALUES (...),");
    }

    #[test]
    fn space_and_comments_collapse() {
        assert_eq!(of("  SELECT\n\t 1 /* one */  -- two\n + 2 # three"), "SELECT ? + ?");
        assert_eq!(of("CREATE TABLE t1(\n id INTEGER\n) /*! ENGINE = x */ "), {
            "CREATE TABLE t1( id INTEGER )"
        });
    }

    #[test]
    fn any_bytes_give_a_fingerprint() {
        let pieces =
            ["'", "\"", "`", "\\", "ä", "(", ")", "IN", "VALUES", "1", ",", "/*", "$", "-", "\n"];
        let mut state = 12345_u64;
        for _ in 0..20_000 {
            let mut sql = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sql.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            let _ = of(&sql);
        }
        assert!(of(&"a,".repeat(10_000)).len() <= MAX_TEXT_BYTES + 2);
    }
}
