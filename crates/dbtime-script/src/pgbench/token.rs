//! Words and tokens of backslash commands. Both end at the end of a line; a backslash before it
//! joins the next line.

/// A place in a script. What is read by it never goes beyond the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptCursor<'a> {
    /// The whole script.
    pub text: &'a str,
    /// The next byte.
    pub at: usize,
}

/// A token of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExpressionToken<'a> {
    /// The end of the line, or of the script.
    End,
    /// An operator, a bracket or a comma.
    Sign(&'static str),
    /// A keyword, in lower case.
    Keyword(&'static str),
    /// An integer that fits.
    Int(i64),
    /// 2⁶³: only behind a minus does it fit.
    OneTooMany,
    /// A number with a point or an exponent.
    Double(f64),
    /// `:name`.
    Variable(&'a str),
    /// Any other word.
    Name(&'a str),
    /// A number that does not fit, or a stray character: what is wrong, and the text.
    Wrong(&'static str, &'a str),
}

/// The longer of two signs that begin alike comes first.
const SIGNS: &[&str] = &[
    "<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", ",", "<", ">", "=", "&",
    "|", "#", "~",
];

const KEYWORDS: &[&str] = &[
    "and", "or", "not", "is", "isnull", "notnull", "case", "when", "then", "else", "end", "null",
    "true", "false",
];

impl<'a> ScriptCursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips blanks and joined lines.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let after = rest.trim_start_matches([' ', '\t', '\r', '\x0b', '\x0c']);
            let after = after.strip_prefix("\\\n").unwrap_or(after);
            if after.len() == rest.len() {
                return;
            }
            self.at = self.text.len() - after.len();
        }
    }

    /// At the end of a line: goes behind it.
    fn end_line(&mut self) {
        if self.rest().starts_with('\n') {
            self.at += 1;
        }
    }

    /// The next word, and where it begins; `None` at the end of the line, which is passed then.
    pub(super) fn word(&mut self) -> Option<(&'a str, usize)> {
        self.skip_blanks();
        let rest = self.rest();
        let start = self.at;
        let is_end = |c: char| matches!(c, ' ' | '\t' | '\r' | '\x0b' | '\x0c' | '\n');
        let length = rest.find(is_end).unwrap_or(rest.len());
        if length == 0 {
            self.end_line();
            return None;
        }
        self.at += length;
        let word = &rest[..length];
        match word.strip_suffix('\\') {
            // The backslash joins the next line; alone it cannot be here, blanks were skipped.
            Some(before) if rest[length..].starts_with('\n') => {
                self.at += 1;
                Some((before, start))
            }
            _ => Some((word, start)),
        }
    }

    /// The next token of an expression; the cursor stands behind it. The end of the line is passed.
    pub(super) fn token(&mut self) -> ExpressionToken<'a> {
        self.skip_blanks();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return ExpressionToken::End };
        if first == '\n' {
            self.end_line();
            return ExpressionToken::End;
        }
        if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            if length > 0 {
                self.at += length;
                return number(&rest[..length]);
            }
        }
        let word = |from: &'a str| &from[..from.bytes().take_while(|b| is_word(*b)).count()];
        if let Some(name) = rest.strip_prefix(':').map(word).filter(|name| !name.is_empty()) {
            self.at += 1 + name.len();
            return ExpressionToken::Variable(name);
        }
        let name = word(rest);
        if !name.is_empty() {
            self.at += name.len();
            let keyword = KEYWORDS.iter().find(|known| known.eq_ignore_ascii_case(name));
            return keyword
                .map_or(ExpressionToken::Name(name), |keyword| ExpressionToken::Keyword(keyword));
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return ExpressionToken::Sign(if *sign == "!=" { "<>" } else { sign });
        }
        self.at += first.len_utf8();
        ExpressionToken::Wrong("unexpected character", &rest[..first.len_utf8()])
    }

    /// Goes to the end of the line, joined lines included, and behind it.
    pub(super) fn skip_line(&mut self) {
        while self.token() != ExpressionToken::End {}
    }
}

fn is_word(byte: u8) -> bool {
    super::names::continues_name(byte)
}

/// How long the number is that a text begins with: `12`, `1.5`, `1.`, `.5`, `1e-3`; 0 if none.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if whole == 0 && fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = bytes.get(length + 1 + sign..).map_or(0, |_| digits(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number(text: &str) -> ExpressionToken<'_> {
    let wrong = |message| ExpressionToken::Wrong(message, text);
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        let is_lost = value == 0.0 && has_mantissa(text);
        let fits = value.is_finite() && !is_lost;
        return if fits {
            ExpressionToken::Double(value)
        } else {
            wrong("double constant overflow")
        };
    }
    match text.parse::<u64>() {
        Ok(value) if value <= i64::MAX as u64 => ExpressionToken::Int(value as i64),
        Ok(value) if value == 1 << 63 => ExpressionToken::OneTooMany,
        _ => wrong("bigint constant overflow"),
    }
}

/// Whether a digit before the exponent is other than zero.
fn has_mantissa(text: &str) -> bool {
    text.split(['e', 'E']).next().is_some_and(|m| m.bytes().any(|b| matches!(b, b'1'..=b'9')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<ExpressionToken<'_>> {
        let mut cursor = ScriptCursor { text, at: 0 };
        let mut tokens = Vec::new();
        loop {
            match cursor.token() {
                ExpressionToken::End => return tokens,
                token => tokens.push(token),
            }
        }
    }

    #[test]
    fn numbers_variables_and_names_are_told_apart() {
        use ExpressionToken::{Double, Int, Keyword, Name, Sign, Variable, Wrong};
        let found = tokens("1 1. .5 1e3 1e :a1 :1 Case pi_2 <= !=");
        let expected = [
            Int(1),
            Double(1.0),
            Double(0.5),
            Double(1000.0),
            Int(1),
            Name("e"),
            Variable("a1"),
            Variable("1"),
            Keyword("case"),
            Name("pi_2"),
            Sign("<="),
            Sign("<>"),
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens("9223372036854775808"), [ExpressionToken::OneTooMany]);
        assert_eq!(tokens("1e-999 0e-999")[1], Double(0.0));
        let wrong = tokens("1e999 99999999999999999999 é1 $");
        assert_eq!(wrong[0], Wrong("double constant overflow", "1e999"));
        assert_eq!(wrong[1], Wrong("bigint constant overflow", "99999999999999999999"));
        assert_eq!(wrong[2..], [Name("é1"), Wrong("unexpected character", "$")]);
    }

    #[test]
    fn lines_end_where_no_backslash_joins_them() {
        assert_eq!(tokens("1 \\\n 2\n3"), [ExpressionToken::Int(1), ExpressionToken::Int(2)]);
        let mut cursor = ScriptCursor { text: "set a\\\nb \\\n c\nnext", at: 0 };
        let words: Vec<_> = std::iter::from_fn(|| cursor.word()).map(|(word, _)| word).collect();
        assert_eq!(words, ["set", "a", "b", "c"]);
        assert_eq!(cursor.rest(), "next");
    }
}
