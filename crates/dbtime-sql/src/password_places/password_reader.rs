//! Goes over the tokens of a text, and knows which of them are passwords.

use super::{PasswordExtent, QUOTES, inner_of};
use crate::joint_lexer::TextToken;
use crate::lexer::TokenKind;
use dbtime_model::secret_text::{MASK, holds_secret, is_password_word, speaks_of_passwords};

/// Words that may stand in the place of a password, or behind one, and are none.
const CLAUSE_WORDS: [&str; 66] = [
    "account",
    "add",
    "admin",
    "and",
    "as",
    "attribute",
    "by",
    "bypassrls",
    "comment",
    "connection",
    "createdb",
    "createrole",
    "current",
    "default",
    "default_auth",
    "disable",
    "discard",
    "drop",
    "enable",
    "encrypted",
    "expire",
    "failed_login_attempts",
    "for",
    "foreign",
    "from",
    "history",
    "identified",
    "in",
    "inherit",
    "initial",
    "key",
    "login",
    "nobypassrls",
    "nocreatedb",
    "nocreaterole",
    "noinherit",
    "nologin",
    "noreplication",
    "nosuperuser",
    "null",
    "on",
    "options",
    "or",
    "owner",
    "password_lock_time",
    "plugin_dir",
    "publication",
    "random",
    "rename",
    "replace",
    "replication",
    "require",
    "reset",
    "retain",
    "reuse",
    "role",
    "server",
    "set",
    "superuser",
    "to",
    "until",
    "user",
    "using",
    "valid",
    "via",
    "with",
];

/// What may stand before a string for its charset, behind an underscore. In the place of a password
/// others may be one themselves.
const CHARSETS: [&str; 6] = ["utf8", "utf8mb3", "utf8mb4", "latin1", "binary", "ascii"];

/// Whether a text names a secret, and says it or has a mask in its place.
fn names_secret(text: &str) -> bool {
    holds_secret(text) || (text.contains(MASK) && holds_secret(&text.replace(MASK, "x")))
}

/// What the words so far make of the next literal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AwaitedLiteral {
    #[default]
    Other,
    Password,
    /// Behind the next equals sign: `SET PASSWORD FOR 'u'@'h' = 'x'`.
    AssignedPassword,
}

/// A password without quotes: it goes on up to a blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BarePassword {
    /// There is none.
    #[default]
    Absent,
    Open,
    /// Its last sign ends it if a blank follows.
    Closed(u8),
}

/// What a statement is about, by its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatementSubject {
    /// None of them was met.
    #[default]
    Unsaid,
    /// `CREATE` and its like: of what, follows.
    Defined,
    /// `SET`.
    Set,
    /// `START`.
    Started,
    /// Logins, here or on other servers.
    Logins,
    /// `ATTACH`: a file of SQLite's, which may have a key.
    Attached,
    /// `PRAGMA`.
    Pragma,
    /// `PRAGMA key` and its like.
    KeyPragma,
    Other,
}

impl StatementSubject {
    /// With the next word.
    fn after(self, word: &str) -> Self {
        use StatementSubject::{
            Attached, Defined, KeyPragma, Logins, Other, Pragma, Set, Started, Unsaid,
        };
        let word = word.to_ascii_lowercase();
        match (self, word.as_str()) {
            (Unsaid, "create" | "alter" | "drop") => Defined,
            (Unsaid, "set") => Set,
            (Unsaid, "start") => Started,
            (Unsaid, "grant" | "change") => Logins,
            (Unsaid, "attach") => Attached,
            (Unsaid, "pragma") => Pragma,
            (Defined, "or" | "replace") => Defined,
            (Defined, "user" | "role" | "group" | "login" | "server" | "subscription") => Logins,
            (Set, "default" | "local" | "session" | "global") => Set,
            // Also misspelt.
            (Set, word) if word == "role" || word.starts_with("pas") => Logins,
            (Started, "replica" | "slave" | "group_replication") => Logins,
            // `rekey`, `hexkey`, `textkey`, also behind the name of a schema.
            (Pragma, word) if word.ends_with("key") => KeyPragma,
            (Logins | Attached | Pragma | KeyPragma, _) => self,
            (Unsaid | Defined | Set | Started | Other, _) => Other,
        }
    }
}

/// Whether a literal is a string, and no number.
fn is_string(literal: &str) -> bool {
    literal.starts_with('$') || literal.contains(QUOTES)
}

/// Whether a word may be `PASSWORD`, perhaps misspelt.
fn is_like_password(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.starts_with("pas") && word.ends_with('d') && !word.contains('_')
}

/// Whether a word in the place of a password is known to be none.
fn is_clause_word(word: &str) -> bool {
    let is = |known: &str| word.eq_ignore_ascii_case(known);
    let digits = word.strip_prefix('$').unwrap_or_default();
    let is_parameter = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let charset = word.strip_prefix('_').unwrap_or_default().to_ascii_lowercase();
    is_parameter
        || is_password_word(word)
        || CLAUSE_WORDS.into_iter().any(is)
        || CHARSETS.contains(&charset.as_str())
}

/// Goes over the tokens of a text.
#[derive(Debug, Default)]
pub(super) struct PasswordReader {
    awaited: AwaitedLiteral,
    bare: BarePassword,
    /// Whether a literal stands behind the last word.
    has_literal: bool,
    /// Whether the last token was a word or a literal.
    is_behind_word: bool,
    /// Whether `IDENTIFIED` was met.
    is_identified: bool,
    subject: StatementSubject,
}

impl PasswordReader {
    /// Takes the next token, and says how much of it is a password; `None`: nothing.
    pub(super) fn take(&mut self, token: &TextToken<'_>) -> Option<PasswordExtent> {
        if self.bare != BarePassword::Absent {
            return self.take_bare(token);
        }
        let is_behind_word = std::mem::take(&mut self.is_behind_word);
        let text = String::from_utf8_lossy(token.bytes);
        match token.kind {
            TokenKind::Space => None,
            TokenKind::Word | TokenKind::QuotedName => self.take_word(text.trim_matches(QUOTES)),
            TokenKind::Symbol => self.take_symbol(token.bytes, is_behind_word),
            TokenKind::Parameter => {
                self.awaited = AwaitedLiteral::Other;
                None
            }
            TokenKind::Literal => self.take_literal(&text),
            TokenKind::Unclear => {
                let may_be = self.awaited != AwaitedLiteral::Other
                    || self.is_identified
                    || self.may_await_password();
                (may_be || speaks_of_passwords(&text)).then_some(PasswordExtent::Whole)
            }
        }
    }

    /// Whether the statement is one in which passwords may stand that nothing names.
    pub(super) fn may_await_password(&self) -> bool {
        use StatementSubject::{Attached, KeyPragma, Logins};
        matches!(self.subject, Logins | Attached | KeyPragma)
    }

    /// The next piece of a password without quotes.
    fn take_bare(&mut self, token: &TextToken<'_>) -> Option<PasswordExtent> {
        match (token.kind, token.bytes) {
            (TokenKind::Space, _) => {
                if let BarePassword::Closed(sign) = std::mem::take(&mut self.bare) {
                    self.pass_symbol(&[sign]);
                }
                None
            }
            (_, [sign @ (b';' | b',' | b')')]) => {
                self.bare = BarePassword::Closed(*sign);
                None
            }
            _ => self.begin_bare(),
        }
    }

    fn begin_bare(&mut self) -> Option<PasswordExtent> {
        self.bare = BarePassword::Open;
        Some(PasswordExtent::Whole)
    }

    /// Whether what comes next is a password without quotes, if it is no word of the statement.
    fn awaits_bare(&self) -> bool {
        let is_awaited = self.awaited == AwaitedLiteral::Password && !self.has_literal;
        is_awaited && self.may_await_password()
    }

    fn take_word(&mut self, word: &str) -> Option<PasswordExtent> {
        if self.awaits_bare() && !is_clause_word(word) {
            return self.begin_bare();
        }
        self.subject = self.subject.after(word);
        self.awaited = self.behind_word(word);
        (self.has_literal, self.is_behind_word) = (false, true);
        None
    }

    fn take_symbol(&mut self, symbol: &[u8], is_behind_word: bool) -> Option<PasswordExtent> {
        // A sign of the statement's, or the place of a parameter.
        let is_known = matches!(symbol, b"=" | b":" | b"(" | b")" | b"," | b";" | b"." | b"?");
        if self.awaits_bare() && !is_behind_word && !is_known {
            return self.begin_bare();
        }
        self.pass_symbol(symbol);
        None
    }

    fn take_literal(&mut self, text: &str) -> Option<PasswordExtent> {
        use PasswordExtent::{Named, Whole};
        let is_awaited = self.awaited == AwaitedLiteral::Password;
        if self.awaits_bare() && !is_string(text) {
            return self.begin_bare();
        }
        (self.has_literal, self.is_behind_word) = (true, true);
        let inner = &text[inner_of(text)];
        // Where double quotes are around names it is one; another literal may follow.
        if is_password_word(inner) {
            self.awaited = AwaitedLiteral::Password;
        }
        let is_whole = match self.subject {
            StatementSubject::Logins => is_string(text),
            // `file:x.db?key=x`
            StatementSubject::Attached => inner.to_ascii_lowercase().contains("key="),
            _ => false,
        };
        (is_awaited || is_whole).then_some(Whole).or(names_secret(inner).then_some(Named))
    }

    /// What follows a word, which the subject has in it already.
    fn behind_word(&mut self, word: &str) -> AwaitedLiteral {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        let is_login = self.subject == StatementSubject::Logins;
        // In a statement about logins also misspelt.
        if is("identified") || (is_login && word.to_ascii_lowercase().starts_with("ident")) {
            self.is_identified = true;
            return Other;
        }
        let is_behind = ["by", "as", "using", "replace"].into_iter().any(is);
        let is_named = match self.subject {
            StatementSubject::Logins => is_like_password(word) || is("replace"),
            StatementSubject::Attached => is("key"),
            StatementSubject::KeyPragma => word.to_ascii_lowercase().ends_with("key"),
            _ => false,
        };
        match self.awaited {
            _ if is_named || is_password_word(word) => Password,
            _ if is_behind && self.is_identified => Password,
            Password if is("for") => AssignedPassword,
            // The charset of a string stands before it, or TO: `SET PASSWORD TO 'x'`.
            Password if word.starts_with('_') || is("to") => Password,
            AssignedPassword => AssignedPassword,
            Other | Password => Other,
        }
    }

    fn pass_symbol(&mut self, symbol: &[u8]) {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        self.awaited = match (self.awaited, symbol) {
            (_, b";") => {
                self.is_identified = false;
                self.subject = StatementSubject::Unsaid;
                Other
            }
            (Password, b"=" | b":" | b"(") | (AssignedPassword, b"=") => Password,
            (AssignedPassword, _) => AssignedPassword,
            (Other | Password, _) => Other,
        };
    }
}
