//! `log_line_prefix`, compiled: which fields stand before the severity of a message.

use super::message_line::LineText;
use super::prefix_match::LineStart;
use super::syslog::syslog_head;
use thiserror::Error;

/// Prefixes that are tried. The first of those that read most lines is taken, so that a longer one
/// stands before the one that would take its names for one name.
const COMMON: &[&str] = &[
    "%m [%p] ",
    // That of the servers which dbtime starts.
    "%m [%p] %e ",
    "%m [%p] %q%u@%d/%a ",
    "%m [%p] %q%u@%d ",
    "%m [%p] %q%u@%d %a ",
    "%m [%p] %q[user=%u,db=%d,app=%a,client=%h] ",
    "%m [%p] %q[user=%u,db=%d,app=%a] ",
    "%m [%p] %quser=%u,db=%d,app=%a,client=%h ",
    "%m [%p] user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d,client=%h ",
    "%t [%p]: user=%u,db=%d,client=%h ",
    "%t [%p]: [%l-1] db=%d,user=%u,app=%a,client=%h ",
    "%m [%p]: [%l-1] db=%d,user=%u ",
    "%t [%p]: [%l-1] user=%u,db=%d ",
    "%t [%p]: [%l-1] %u@%d ",
    "%t [%p]: [%l] ",
    "%t [%p]: [%l-1] ",
    "%t:%r:%u@%d:[%p]:",
    "%m:%r:%u@%d:[%p]:%l:%e:%s:%v:%x:%c:%q%a:",
    "%m %u@%d %p %r ",
    "%m %c ",
    "%n [%p] ",
    "[%p] ",
    "%t ",
    "syslog ",
    "syslog %q%u@%d ",
    "syslog user=%u,db=%d,app=%a,client=%h ",
    "syslog sql_error_code = %e ",
];

/// How a line of the log begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrefixPattern {
    text: String,
    /// Whether syslog has put its own beginning before each line.
    pub(super) is_syslog: bool,
    pub(super) parts: Vec<PrefixPart>,
    /// How many of the parts processes without a client have (`%q`).
    pub(super) always: usize,
}

/// A part of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrefixPart {
    /// Text as it is.
    Literal(Box<[u8]>),
    /// A field, filled up with blanks to at least so many bytes.
    Field(PrefixField, usize),
}

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefixField {
    /// `%m`, `%t`: a time with a zone.
    Time,
    /// `%s`: another such time, which is not the message's.
    Start,
    /// `%n`: seconds since 1970-01-01.
    Epoch,
    /// `%c`.
    Session,
    /// `%p`.
    Pid,
    /// `%u`.
    User,
    /// `%d`.
    Database,
    /// `%h`, `%r`.
    Host,
    /// `%e`.
    State,
    /// `%Q`.
    QueryId,
    /// `%P`, `%l`, `%x`: a number that is of no use here.
    Number,
    /// `%v`: two numbers with a slash, or nothing.
    Transaction,
    /// `%a`, `%b`, `%i`, `%L`: a text that is of no use here.
    Text,
}

impl PrefixField {
    fn of(letter: char) -> Option<Self> {
        Some(match letter {
            'm' | 't' => Self::Time,
            's' => Self::Start,
            'n' => Self::Epoch,
            'c' => Self::Session,
            'p' => Self::Pid,
            'u' => Self::User,
            'd' => Self::Database,
            'h' | 'r' => Self::Host,
            'e' => Self::State,
            'Q' => Self::QueryId,
            'P' | 'l' | 'x' => Self::Number,
            'v' => Self::Transaction,
            'a' | 'b' | 'i' | 'L' => Self::Text,
            _ => return None,
        })
    }

    /// Whether nothing but the text behind it shows where it ends.
    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::User | Self::Database | Self::Host | Self::Text)
    }
}

/// Why a prefix cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PrefixError {
    /// There is no such escape.
    #[error(
        "`%{0}` is no escape of log_line_prefix: give the server's own (`SHOW log_line_prefix`); \
         known are %a %b %c %d %e %h %i %l %L %m %n %p %P %q %Q %r %s %t %u %v %x %%"
    )]
    Unknown(char),
    /// It ends within an escape.
    #[error("the prefix ends in a lone `%`: write `%%` for a per cent sign")]
    Incomplete,
    /// Nothing shows where a text ends.
    #[error(
        "nothing stands behind a name in the prefix, so its end cannot be found: \
         a prefix such as `%m [%p] %q%u@%d ` has a sign or a blank behind %u, %d, %h, %r and %a"
    )]
    Unended,
}

impl PrefixPattern {
    /// A pattern from `log_line_prefix` as the server has it; `syslog ` before it stands for what
    /// syslog writes, up to the number of the message (`[5-1] `).
    ///
    /// Errors: the prefix has an unknown escape, or a name whose end nothing shows.
    pub(crate) fn parse(text: &str) -> Result<Self, PrefixError> {
        let (is_syslog, rest) = match text.strip_prefix("syslog") {
            Some("") => (true, ""),
            Some(rest) if rest.starts_with(' ') => (true, &rest[1..]),
            _ => (false, text),
        };
        let mut pattern =
            Self { text: text.to_owned(), is_syslog, parts: Vec::new(), always: usize::MAX };
        pattern.compile(rest)?;
        pattern.always = pattern.always.min(pattern.parts.len());
        pattern.check()?;
        Ok(pattern)
    }

    /// The common prefix that reads most of the first lines of a log, and at least eight of ten;
    /// `None`: none does.
    pub(crate) fn guess(head: &[u8]) -> Option<Self> {
        let patterns = COMMON.iter().filter_map(|text| Self::parse(text).ok());
        let mut best: Option<(usize, Self)> = None;
        for pattern in patterns {
            let (read, lines) = pattern.read_count(head);
            let is_good = read > 0 && read * 10 >= lines * 8;
            if is_good && best.as_ref().is_none_or(|(most, _)| read > *most) {
                best = Some((read, pattern));
            }
        }
        best.map(|(_, pattern)| pattern)
    }

    /// The prefix as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How many of the first hundred lines that begin without a tab have the prefix, likely names
    /// and a known severity, and how many those lines are. What has a blank or a sign of equality
    /// is rather a name with further fields than a name.
    fn read_count(&self, head: &[u8]) -> (usize, usize) {
        let whole = memchr::memrchr(b'\n', head).map_or(&head[..0], |end| &head[..end]);
        let lines = whole.split(|byte| *byte == b'\n');
        let (mut read, mut count) = (0, 0);
        for line in lines.filter(|line| !line.is_empty() && line[0] != b'\t').take(100) {
            if self.is_syslog && syslog_head(line).is_some_and(|head| head.is_continued) {
                continue;
            }
            count += 1;
            let start = LineStart::find(self, LineText::made(line));
            let is_name = |text: LineText<'_>| !text.bytes.iter().any(|c| matches!(c, b' ' | b'='));
            read += usize::from(start.is_some_and(|LineStart { line, severity }| {
                severity.is_some() && is_name(line.user) && is_name(line.database)
            }));
        }
        (read, count)
    }

    fn compile(&mut self, text: &str) -> Result<(), PrefixError> {
        let mut chars = text.chars().peekable();
        let mut literal = String::new();
        while let Some(c) = chars.next() {
            if c != '%' {
                literal.push(c);
                continue;
            }
            let mut width = 0usize;
            let _ = chars.next_if_eq(&'-');
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                width = width.saturating_mul(10).saturating_add(digit as usize).min(1000);
                let _ = chars.next();
            }
            match chars.next().ok_or(PrefixError::Incomplete)? {
                '%' => literal.push('%'),
                'q' => {
                    self.push_literal(&mut literal);
                    self.always = self.always.min(self.parts.len());
                }
                letter => {
                    let field = PrefixField::of(letter).ok_or(PrefixError::Unknown(letter))?;
                    self.push_literal(&mut literal);
                    self.parts.push(PrefixPart::Field(field, width));
                }
            }
        }
        self.push_literal(&mut literal);
        Ok(())
    }

    fn push_literal(&mut self, literal: &mut String) {
        if !literal.is_empty() {
            self.parts.push(PrefixPart::Literal(literal.as_bytes().into()));
            literal.clear();
        }
    }

    /// Refuses names with nothing behind them.
    fn check(&self) -> Result<(), PrefixError> {
        for (index, part) in self.parts.iter().enumerate() {
            let is_text = matches!(part, PrefixPart::Field(field, _) if field.is_text());
            let is_ended = matches!(self.parts.get(index + 1), Some(PrefixPart::Literal(_)));
            if is_text && (!is_ended || index + 1 == self.always) {
                return Err(PrefixError::Unended);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_compiled_and_refused_with_a_remedy() {
        for text in COMMON {
            assert_eq!(PrefixPattern::parse(text).map(|p| p.text().to_owned()), Ok((*text).into()));
        }
        assert_eq!(PrefixPattern::parse("%m %z "), Err(PrefixError::Unknown('z')));
        assert_eq!(PrefixPattern::parse("%m %-10"), Err(PrefixError::Incomplete));
        assert_eq!(PrefixPattern::parse("%m %u%d "), Err(PrefixError::Unended));
        assert_eq!(PrefixPattern::parse("%m %u"), Err(PrefixError::Unended));
        assert!(PrefixError::Unended.to_string().contains("%q%u@%d"));
    }

    #[test]
    fn the_prefix_that_reads_most_lines_is_found() {
        let guess = |text: &str| PrefixPattern::guess(text.as_bytes()).map(|p| p.text);
        let time = "2024-01-02 03:04:05.678 UTC";
        let background = format!("{time} [7] LOG:  checkpoint starting: time\n").repeat(9);
        let query = format!("{time} [8] a@b LOG:  duration: 1.0 ms  statement: SELECT 1\n");
        assert_eq!(guess(&background).as_deref(), Some("%m [%p] "));
        assert_eq!(guess(&(background + &query)).as_deref(), Some("%m [%p] %q%u@%d "));
        let further = format!("{time} [8] a@b 6593e0c5.8 -42 LOG:  statement: SELECT 1\n");
        assert_eq!(guess(&further).as_deref(), Some("%m [%p] %q%u@%d %a "));
        let unknown = format!("{time} [8]: [1-1] user=a,db=b,x=c LOG:  statement: SELECT 1\n");
        assert_eq!(guess(&unknown), None, "its fields would be the name of a database");
        let own = format!("{time} [7] 00000 LOG:  checkpoint starting: time\n");
        assert_eq!(guess(&own).as_deref(), Some("%m [%p] %e "));
        let rds = "2024-01-02 03:04:05 UTC:10.0.0.1(5432):a@b:[8]:LOG:  statement: SELECT 1\n";
        assert_eq!(guess(rds).as_deref(), Some("%t:%r:%u@%d:[%p]:"));
        let syslog = "Jan  2 03:04:05 db1 postgres[123]: [5-1] LOG:  statement: SELECT\n\
                      Jan  2 03:04:05 db1 postgres[123]: [5-2] #0111\n";
        assert_eq!(guess(syslog).as_deref(), Some("syslog "));
        assert_eq!(guess("# Time: 2024-01-02T03:04:05Z\nselect 1;\n"), None);
        assert_eq!(guess(""), None);
    }
}
