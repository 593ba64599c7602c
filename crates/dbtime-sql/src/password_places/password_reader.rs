//! Goes over the tokens of a text, and knows which of them are passwords.

use super::inner_statement::holds_password_statement;
use super::statement_subject::{StatementSubject, is_harmless_setting, is_secret_setting_name};
use super::word_place::WordPlace;
use super::{PasswordExtent, QUOTES, inner_of};
use crate::joint_lexer::TextToken;
use crate::lexer::TokenKind;
use dbtime_model::secret_text::{MASK, holds_secret, is_password_word, speaks_of_passwords};

/// Whether a text names a secret, and says it or has a mask in its place.
fn names_secret(text: &str) -> bool {
    holds_secret(text) || (text.contains(MASK) && holds_secret(&text.replace(MASK, "x")))
}

/// The function that sets what its first argument names.
const SETTING_CALL: &str = "set_config";

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
    /// Within so many of its own parentheses: `concat('a', hush)`.
    Open(u16),
    /// Its last sign ends it if a blank follows.
    Closed(u8),
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

/// Goes over the tokens of a text.
#[derive(Debug, Default)]
pub(super) struct PasswordReader {
    awaited: AwaitedLiteral,
    /// Where it stands.
    place: WordPlace,
    /// Where it would stand behind a `PASSWORD` that comes next.
    next_place: WordPlace,
    bare: BarePassword,
    /// Whether a literal stands behind the last word.
    has_literal: bool,
    /// Whether the last token was a word or a literal.
    is_behind_word: bool,
    /// Whether it was the `@` of a variable, and not `@@`.
    is_behind_at: bool,
    /// Whether `IDENTIFIED` was met.
    is_identified: bool,
    /// Whether a function that changes settings was met.
    calls_setting: bool,
    /// Whether all further strings of the statement count, because one of them was a statement
    /// with a password, or the name of a setting that is a secret.
    counts_all: bool,
    /// How deep strings are read that have statements in them; `None`: they are not.
    levels: Option<u8>,
    subject: StatementSubject,
}

impl PasswordReader {
    /// One that reads statements inside of strings to this depth, and by default none.
    pub(super) fn of_levels(levels: u8) -> Self {
        Self { levels: Some(levels), ..Self::default() }
    }

    /// A statement of a block begins.
    pub(super) fn begin_in_block(&mut self) {
        if self.subject == StatementSubject::Other {
            self.subject = StatementSubject::Unsaid;
        }
    }

    /// Whether the statement is one in which passwords may stand.
    pub(super) fn may_hold_password(&self) -> bool {
        self.counts_all || self.may_await_password()
    }

    /// Takes the next token, and says how much of it is a password; `None`: nothing.
    pub(super) fn take(&mut self, token: &TextToken<'_>) -> Option<PasswordExtent> {
        if self.bare != BarePassword::Absent {
            return self.take_bare(token);
        }
        let is_behind_word = std::mem::take(&mut self.is_behind_word);
        if !matches!(token.kind, TokenKind::Space | TokenKind::Word | TokenKind::QuotedName) {
            self.next_place = WordPlace::Named;
        }
        let text = String::from_utf8_lossy(token.bytes);
        match token.kind {
            TokenKind::Space => None,
            TokenKind::Word | TokenKind::QuotedName => self.take_word(text.trim_matches(QUOTES)),
            TokenKind::Symbol => self.take_symbol(token.bytes, is_behind_word),
            TokenKind::Parameter => {
                if !self.is_in_setting() {
                    self.awaited = AwaitedLiteral::Other;
                }
                None
            }
            TokenKind::Literal => self.take_literal(&text),
            TokenKind::Unclear => {
                let may_be = self.awaited != AwaitedLiteral::Other
                    || self.is_identified
                    || self.may_hold_password()
                    || speaks_of_passwords(&text)
                    || self.counts_string(text.trim_start_matches(QUOTES));
                may_be.then_some(PasswordExtent::Whole)
            }
        }
    }

    /// Whether the statement is one in which passwords may stand that nothing names.
    pub(super) fn may_await_password(&self) -> bool {
        use StatementSubject::{Attached, KeyPragma, SecretSet};
        let is_named = matches!(self.subject, Attached | KeyPragma | SecretSet(_));
        is_named || self.subject.is_about_logins()
    }

    /// The next piece of a password without quotes.
    fn take_bare(&mut self, token: &TextToken<'_>) -> Option<PasswordExtent> {
        let depth = match self.bare {
            BarePassword::Open(depth) => depth,
            BarePassword::Absent | BarePassword::Closed(_) => 0,
        };
        match (token.kind, token.bytes) {
            (TokenKind::Space, _) if depth == 0 => {
                if let BarePassword::Closed(sign) = std::mem::take(&mut self.bare) {
                    self.pass_symbol(&[sign]);
                }
                None
            }
            (TokenKind::Symbol, b"(") => self.go_on_bare(depth.saturating_add(1)),
            (TokenKind::Symbol, b")") if depth > 0 => self.go_on_bare(depth - 1),
            (_, [sign @ (b';' | b',' | b')')]) if depth == 0 || *sign == b';' => {
                // `(hush),` ends two things.
                if self.bare == BarePassword::Closed(b')') {
                    self.subject = self.subject.after_sign(b")");
                }
                self.bare = BarePassword::Closed(*sign);
                None
            }
            _ => self.go_on_bare(depth),
        }
    }

    fn begin_bare(&mut self) -> Option<PasswordExtent> {
        self.go_on_bare(0)
    }

    fn go_on_bare(&mut self, depth: u16) -> Option<PasswordExtent> {
        (self.bare, self.place) = (BarePassword::Open(depth), WordPlace::Behind);
        Some(PasswordExtent::Whole)
    }

    /// Whether what comes next is a password without quotes, if it is no word of the statement.
    fn awaits_bare(&self) -> bool {
        let is_awaited = self.awaited == AwaitedLiteral::Password && !self.has_literal;
        (is_awaited && self.may_await_password()) || self.is_in_setting()
    }

    /// Whether it is within the value of a setting that is a secret. That may be an expression, of
    /// which all is taken for one.
    fn is_in_setting(&self) -> bool {
        let is_value = matches!(self.place, WordPlace::Valued | WordPlace::Behind);
        let is_awaited = self.awaited == AwaitedLiteral::Password;
        is_awaited && is_value && self.subject.sets_secret()
    }

    fn take_word(&mut self, word: &str) -> Option<PasswordExtent> {
        if self.awaits_bare() && !self.place.allows(word, self.subject) {
            return self.begin_bare();
        }
        self.subject = match (self.subject.after(word), std::mem::take(&mut self.is_behind_at)) {
            // A variable of the session is no setting.
            (StatementSubject::SecretSet(_), true) => StatementSubject::Settings,
            (subject, _) => subject,
        };
        self.calls_setting |= word.eq_ignore_ascii_case(SETTING_CALL);
        self.awaited = self.behind_word(word);
        self.next_place = WordPlace::of_next(word);
        (self.has_literal, self.is_behind_word) = (false, true);
        None
    }

    fn take_symbol(&mut self, symbol: &[u8], is_behind_word: bool) -> Option<PasswordExtent> {
        // A sign of the statement's, or the place of a parameter.
        let is_known = matches!(symbol, b"=" | b":" | b"(" | b")" | b"," | b";" | b"." | b"?");
        if self.awaits_bare() && !is_behind_word && !is_known {
            return self.begin_bare();
        }
        self.is_behind_at = symbol == b"@" && !self.is_behind_at;
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
        if self.is_in_setting() {
            self.place = WordPlace::Behind;
        }
        let inner = &text[inner_of(text)];
        // Where double quotes are around names it is one; another literal may follow.
        if is_password_word(inner) {
            self.awaited = AwaitedLiteral::Password;
        }
        let is_whole = match self.subject {
            subject if subject.is_about_logins() => is_string(text),
            // `file:x.db?key=x`
            StatementSubject::Attached => inner.to_ascii_lowercase().contains("key="),
            _ => false,
        };
        let counts = is_string(text) && self.counts_string(inner);
        let is_whole = is_awaited || is_whole || counts;
        is_whole.then_some(Whole).or(names_secret(inner).then_some(Named))
    }

    /// Whether a string counts for what it says, or for what another has said.
    fn counts_string(&mut self, inner: &str) -> bool {
        let reads = |levels: u8| holds_password_statement(inner, levels.checked_sub(1));
        let holds = self.levels.is_some_and(reads);
        let counts = self.counts_all || holds;
        self.counts_all = counts || (self.calls_setting && is_secret_setting_name(inner));
        counts
    }

    /// What follows a word, which the subject has in it already.
    fn behind_word(&mut self, word: &str) -> AwaitedLiteral {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        let is_login = self.subject.is_about_logins();
        // In a statement about logins also misspelt.
        if is("identified") || (is_login && word.to_ascii_lowercase().starts_with("ident")) {
            self.is_identified = true;
            return Other;
        }
        let is_behind = ["by", "as", "using", "replace"].into_iter().any(is);
        match self.awaited {
            _ if (is_behind && self.is_identified) || (is_login && is("replace")) => {
                self.place = WordPlace::Valued;
                Password
            }
            _ if self.is_named_by(word) => {
                self.place = self.place_behind(word);
                Password
            }
            // Another statement follows behind the FOR of a setting.
            Password if is("for") && self.subject != StatementSubject::Unsaid => AssignedPassword,
            // The charset of a string stands before it, or TO: `SET PASSWORD TO 'x'`.
            Password if word.starts_with('_') => Password,
            Password if is("to") && self.place != WordPlace::Name => {
                self.place = WordPlace::Valued;
                Password
            }
            AssignedPassword if is("to") && is_login => {
                self.place = WordPlace::Valued;
                Password
            }
            // Such as OFF, behind which an expression may go on. A name may stand before SET.
            Password if self.is_in_setting() && !is("set") => {
                self.place = WordPlace::Behind;
                Password
            }
            AssignedPassword => AssignedPassword,
            Other | Password => Other,
        }
    }

    /// Whether a word names a password, or the like.
    fn is_named_by(&self, word: &str) -> bool {
        let is_login = self.subject.is_about_logins();
        let is_own = match self.subject {
            // Also as a setting: `ALTER ROLE r SET app.token = x`.
            _ if is_login => is_like_password(word) || is_secret_setting_name(word),
            StatementSubject::Attached => word.eq_ignore_ascii_case("key"),
            StatementSubject::KeyPragma => word.to_ascii_lowercase().ends_with("key"),
            StatementSubject::SecretSet(_) => is_secret_setting_name(word),
            _ => false,
        };
        is_own || (is_password_word(word) && (is_login || !is_harmless_setting(word)))
    }

    /// Where a password stands behind this word, which names one, or something else like one.
    fn place_behind(&self, word: &str) -> WordPlace {
        let is_login = self.subject.is_about_logins();
        match self.next_place {
            _ if self.may_be_granted() => WordPlace::Name,
            // Such as the name of a plugin.
            WordPlace::Named
                if is_login && !is_like_password(word) && !self.subject.sets_secret() =>
            {
                WordPlace::Behind
            }
            next => next,
        }
    }

    /// Whether a name belongs to what is granted.
    fn may_be_granted(&self) -> bool {
        self.subject == StatementSubject::Granted && !self.is_identified
    }

    /// Whether what follows this sign is joined with what was a password, and so a piece of it.
    fn is_joined_by(&self, symbol: &[u8]) -> bool {
        let is_behind_string = self.has_literal && self.may_await_password();
        let is_operator = matches!(symbol, [b'|' | b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'&']);
        is_operator && (is_behind_string || self.place == WordPlace::Valued)
    }

    fn pass_symbol(&mut self, symbol: &[u8]) {
        use AwaitedLiteral::{AssignedPassword, Other, Password};
        let is_granted = self.may_be_granted() && self.place == WordPlace::Name;
        let subject = self.subject.after_sign(symbol);
        let is_in_setting = self.is_in_setting() && subject.sets_secret();
        self.awaited = match (self.awaited, symbol) {
            (_, b";") => {
                (self.is_identified, self.calls_setting, self.counts_all) = (false, false, false);
                Other
            }
            // The arguments of a function that is called so.
            (Password, b"(") if is_granted => Other,
            (Password, b"=" | b":" | b"(") | (AssignedPassword, b"=") => {
                self.place = WordPlace::Valued;
                Password
            }
            (Password, _) if is_in_setting => Password,
            (Password, _) if self.is_joined_by(symbol) => {
                (self.has_literal, self.place) = (false, WordPlace::Valued);
                Password
            }
            (AssignedPassword, _) => AssignedPassword,
            (Other | Password, _) => Other,
        };
        self.subject = subject;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{lacks_password, without_passwords};

    fn assert_all_shown(cases: &[(&str, &str)]) {
        for (sql, shown) in cases {
            assert_eq!(without_passwords(sql), *shown);
            assert!(lacks_password(shown) && !lacks_password(sql), "{sql}");
            assert_eq!(without_passwords(shown), *shown, "it stays what it is");
        }
    }

    #[test]
    fn a_password_for_a_user_may_have_no_sign_before_it() {
        assert_all_shown(&[
            ("SET PASSWORD FOR u TO hush", "SET PASSWORD FOR u TO '***'"),
            ("SET PASSWORD FOR u@h TO hush; SELECT a", "SET PASSWORD FOR u@h TO '***'; SELECT a"),
            ("SET PASSWORD FOR u TO 'hush'", "SET PASSWORD FOR u TO '***'"),
        ]);
        for sql in ["SET PASSWORD FOR u@h TO RANDOM", "SET PASSWORD FOR u TO RANDOM; SELECT a"] {
            assert_eq!(without_passwords(sql), sql);
        }
    }

    #[test]
    fn an_expression_is_a_password_as_a_whole() {
        assert_all_shown(&[
            ("SET app.password = concat('a', hush), b = c", "SET app.password = '***', b = c"),
            ("SET app.token = concat(a, b(c), hush); SELECT a", "SET app.token = '***'; SELECT a"),
            ("SET app.password = ('a', hush), b = c", "SET app.password = ('***', '***'), b = c"),
            ("SET app.password = ((hush)),b", "SET app.password = (('***')),'***'"),
            ("SET app.password = 'a' || hush", "SET app.password = '***' '***' '***'"),
            ("SET app.password = 'a'|hush, b = c", "SET app.password = '***'|'***', b = c"),
            ("SET app.password = 'a' hush", "SET app.password = '***' '***'"),
            (
                "SET STATEMENT x_password = 'y' FOR SELECT a",
                "SET STATEMENT x_password = '***' FOR SELECT a",
            ),
            ("SET app.password = off + hush", "SET app.password = off '***' '***'"),
            ("SET app.password = $1 + hush", "SET app.password = $1 '***' '***'"),
            ("SET app.password = hush and more", "SET app.password = '***' '***' '***'"),
            ("ALTER ROLE r SET app.token = f(a, hush)", "ALTER ROLE r SET app.token = '***'"),
            ("ALTER ROLE r PASSWORD f('a', hush)", "ALTER ROLE r PASSWORD '***'"),
            ("ALTER ROLE r PASSWORD 'a' + hush", "ALTER ROLE r PASSWORD '***' + '***'"),
            ("PRAGMA key = concat('a', hush)", "PRAGMA key = '***'"),
            ("UPDATE t SET password = 'a' || 'b'", "UPDATE t SET password = '***' || '***'"),
            ("UPDATE u SET authentication_string='*A'", "UPDATE u SET authentication_string='***'"),
        ]);
    }

    #[test]
    fn behind_an_expression_names_stay() {
        for sql in [
            "SET a = concat('b', c), d = e",
            "SET app.password = off, b = concat('c', d)",
            "SET STATEMENT app.password = off FOR GRANT a ON b TO c",
            "ALTER ROLE r IN DATABASE token SET work_mem = a",
            "ALTER TABLE t ATTACH PARTITION passwd FOR VALUES FROM ('a') TO ('b')",
            "SELECT 'password' || 'x'",
        ] {
            assert_eq!(without_passwords(sql), sql);
        }
    }

    #[test]
    fn a_setting_of_a_role_may_have_the_same_values_as_any() {
        for role in ["", "ALTER ROLE r ", "ALTER SYSTEM ", "ALTER DATABASE d "] {
            for value in ["= off", "TO on", "= DEFAULT", "FROM CURRENT"] {
                let sql = format!("{role}SET app.password {value}");
                assert_eq!(without_passwords(&sql), sql);
            }
            for value in ["hush", "offhand", "random"] {
                let sql = format!("{role}SET app.password = {value}");
                let shown = format!("{role}SET app.password = '***'");
                assert_eq!(without_passwords(&sql), shown);
            }
        }
        assert_all_shown(&[
            ("ALTER ROLE r PASSWORD off", "ALTER ROLE r PASSWORD '***'"),
            (
                "ALTER USER MAPPING FOR u SERVER s OPTIONS (SET password hush, ADD user v)",
                "ALTER USER MAPPING FOR u SERVER s OPTIONS (SET password '***', ADD user v)",
            ),
        ]);
    }
}
