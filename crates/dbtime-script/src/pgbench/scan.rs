//! Where SQL commands end: at a semicolon outside of quotes, comments and brackets, or before a
//! backslash command.
//!
//! Nothing is understood of SQL beyond that, and nothing in it is an error.

use super::names;

/// What ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStop {
    /// A semicolon, which belongs to it.
    Semicolon,
    /// A backslash, which was passed.
    Backslash,
    /// The end of the script.
    End,
}

/// A place in a script, and what is open there.
#[derive(Debug)]
pub(super) struct SqlScanner<'a> {
    text: &'a str,
    /// The next byte.
    pub at: usize,
    brackets: u32,
    /// Blocks of a routine's body (`BEGIN ATOMIC … END`), in which semicolons end nothing.
    blocks: u32,
    /// The first letters of the words that may open such a routine.
    opening: [u8; 4],
    words: usize,
}

impl<'a> SqlScanner<'a> {
    /// The beginning of a script.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, brackets: 0, blocks: 0, opening: [0; 4], words: 0 }
    }

    /// The next command as it is to be sent: `\;` and `\:` have lost their backslash, and blanks
    /// before it are gone.
    pub(super) fn command(&mut self) -> (String, ScanStop) {
        let mut out = String::new();
        while let Some(first) = self.text[self.at..].chars().next() {
            let rest = &self.text[self.at..];
            if first == '\\' {
                if let Some(escaped) = rest[1..].chars().next().filter(|c| matches!(c, ';' | ':')) {
                    if escaped == ';' {
                        self.words = 0;
                    }
                    out.push(escaped);
                    self.at += 2;
                    continue;
                }
                self.at += 1;
                return (out, ScanStop::Backslash);
            }
            let length = self.lexeme(rest, first);
            self.at += length;
            if !(first.is_ascii_whitespace() && out.is_empty()) {
                out.push_str(&rest[..length]);
            }
            if first == ';' && self.brackets == 0 && self.blocks == 0 {
                self.words = 0;
                return (out, ScanStop::Semicolon);
            }
        }
        (out, ScanStop::End)
    }

    /// How long the piece is that begins here.
    fn lexeme(&mut self, rest: &str, first: char) -> usize {
        match first {
            '(' => self.brackets += 1,
            ')' => self.brackets = self.brackets.saturating_sub(1),
            '\'' | '"' => return 1 + through(&rest[1..], &rest[..1]),
            '$' => return dollar_quote(rest),
            '-' if rest.starts_with("--") => return rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => return comment(rest),
            _ if begins_word(first) => {
                let escapes = first.eq_ignore_ascii_case(&'e') && rest[1..].starts_with('\'');
                if escapes {
                    return 2 + escape_string(&rest[2..]);
                }
                let length = rest.bytes().take_while(|byte| continues_word(*byte)).count();
                self.word(&rest[..length]);
                return length;
            }
            _ => {}
        }
        first.len_utf8()
    }

    /// Watches for the body of `CREATE [OR REPLACE] FUNCTION|PROCEDURE`.
    fn word(&mut self, word: &str) {
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if self.words == 0 {
            self.opening = [0; 4];
        }
        let opens = ["create", "function", "procedure", "or", "replace"].into_iter().any(is);
        if opens && let Some(letter) = self.opening.get_mut(self.words) {
            *letter = word.as_bytes()[0].to_ascii_lowercase();
        }
        self.words += 1;
        let is_routine = matches!(self.opening, [b'c', b'f' | b'p', ..])
            || matches!(self.opening, [b'c', b'o', b'r', b'f' | b'p']);
        if !is_routine || self.brackets > 0 {
            return;
        }
        if is("begin") || (is("case") && self.blocks > 0) {
            self.blocks += 1;
        } else if is("end") {
            self.blocks = self.blocks.saturating_sub(1);
        }
    }
}

fn begins_word(first: char) -> bool {
    first.is_ascii_alphabetic() || first == '_' || !first.is_ascii()
}

fn continues_word(byte: u8) -> bool {
    names::continues_name(byte) || byte == b'$'
}

/// Up to and including `end`; everything where it does not come.
fn through(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |found| found + end.len())
}

/// `/* … */`, with others inside.
fn comment(text: &str) -> usize {
    let mut at = 0;
    let mut depth = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => depth += 1,
            [b'*', b'/', ..] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Behind `e'`: a backslash escapes the next byte, and a string on the next line goes on.
fn escape_string(text: &str) -> usize {
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\'' => match continuation(&text[at + 1..]) {
                Some(length) => at += 1 + length,
                None => return at + 1,
            },
            _ => at += 1,
        }
    }
    text.len()
}

/// Blanks with a line's end among them and a quote behind: how long all of it is.
fn continuation(text: &str) -> Option<usize> {
    let blanks = text.len() - text.trim_ascii_start().len();
    let has_line_end = text[..blanks].contains('\n');
    (has_line_end && text[blanks..].starts_with('\'')).then_some(blanks + 1)
}

/// `$$ … $$` or `$tag$ … $tag$`; a lone dollar otherwise.
fn dollar_quote(text: &str) -> usize {
    let tag = text[1..].bytes().take_while(|byte| names::continues_name(*byte)).count();
    let begins_well = text[1..].bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if !begins_well || !text[1 + tag..].starts_with('$') {
        return 1;
    }
    let mark = &text[..tag + 2];
    mark.len() + through(&text[mark.len()..], mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of a text without backslash commands.
    fn commands(text: &str) -> Vec<String> {
        let mut scanner = SqlScanner::new(text);
        let mut found = Vec::new();
        loop {
            let (command, stop) = scanner.command();
            if !command.is_empty() {
                found.push(command);
            }
            if stop == ScanStop::End {
                return found;
            }
        }
    }

    #[test]
    fn semicolons_in_quotes_comments_and_brackets_end_nothing() {
        for whole in [
            "select ';', \";\", 'it''s;' ;",
            "select e'\\';', E'a\\\\';",
            "select e'a'\n 'b\\';c';",
            "select $$;$$, $a$;$$;$a$, $1;",
            "select 1 /* ; /* ; */ ; */ ;",
            "select 1 -- ; 'x\n;",
            "select (1;2);",
            "select a$$b;",
            "create function f() returns int begin atomic select case when a then 1 end; end;",
            "create or replace procedure f() begin atomic select 1; select 2; end;",
            "select 'no end; ",
        ] {
            assert_eq!(commands(whole), [whole]);
        }
        assert_eq!(commands(" a; \n\tb ;c"), ["a;", "b ;", "c"]);
        assert_eq!(commands("begin; end;"), ["begin;", "end;"]);
        assert_eq!(commands("select $é$;$é$; x"), ["select $é$;$é$;", "x"]);
    }

    #[test]
    fn an_escaped_semicolon_joins_statements() {
        assert_eq!(commands("select 1\\; select \\:a;"), ["select 1; select :a;"]);
        let mut scanner = SqlScanner::new("select 1 \\gset");
        assert_eq!(scanner.command(), ("select 1 ".to_owned(), ScanStop::Backslash));
        assert_eq!(&scanner.text[scanner.at..], "gset");
    }
}
