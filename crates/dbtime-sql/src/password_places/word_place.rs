//! Words that may stand where a password is awaited, and are none.
//!
//! Directly behind `PASSWORD` or `BY` the servers' grammars have very few; behind a password, or a
//! name that only looks like the word, all that may go on with the statement.

use super::statement_subject::StatementSubject;
use dbtime_model::secret_text::is_password_word;

/// Behind `PASSWORD` of a login, and behind a login that is called so.
const BEHIND_PASSWORD: [&str; 10] =
    ["disable", "expire", "for", "from", "history", "identified", "null", "require", "reuse", "to"];

/// Where the password of a login itself stands, behind `BY` and its like, or a sign.
const LOGIN_VALUES: [&str; 5] = ["default", "null", "old_password", "password", "random"];

/// Behind the name of a setting.
const BEHIND_SETTING: [&str; 2] = ["from", "to"];

/// Behind a setting and its value: `SET STATEMENT x = 1 FOR`.
const BEHIND_VALUE: [&str; 1] = ["for"];

/// Values of settings that are plainly no secret.
const SETTING_VALUES: [&str; 8] = ["default", "false", "no", "null", "off", "on", "true", "yes"];

/// Words with which a statement may go on behind a password.
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

/// Words behind which a name stands, of which some look like `PASSWORD`.
const BEFORE_NAMES: [&str; 7] =
    ["exists", "for", "group", "role", "server", "subscription", "user"];

/// Words behind which `PASSWORD` may end a clause, as in `RETAIN CURRENT PASSWORD`, or be a name.
const BEFORE_ENDS: [&str; 5] = ["as", "current", "old", "random", "to"];

/// What may stand before a string for its charset, behind an underscore. In the place of a password
/// others may be one themselves.
const CHARSETS: [&str; 6] = ["utf8", "utf8mb3", "utf8mb4", "latin1", "binary", "ascii"];

/// Where a password is awaited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WordPlace {
    /// Behind `PASSWORD` or what else names one.
    #[default]
    Named,
    /// Where its value stands: behind `BY`, or a sign.
    Valued,
    /// Where the statement may go on: behind a piece of one, or behind `RETAIN CURRENT PASSWORD`.
    Behind,
    /// There too, behind what is rather a name: `ON passwd TO`.
    Name,
}

impl WordPlace {
    /// Where a password stands behind a `PASSWORD` that follows this word.
    pub(super) fn of_next(word: &str) -> Self {
        let is_in = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is_in(&BEFORE_NAMES) {
            Self::Name
        } else if is_in(&BEFORE_ENDS) {
            Self::Behind
        } else {
            Self::Named
        }
    }

    /// Whether this word may stand here, and is no password.
    pub(super) fn allows(self, word: &str, subject: StatementSubject) -> bool {
        let words: &[&str] = match (self, subject) {
            (Self::Valued, subject) if subject.sets_secret() => &SETTING_VALUES,
            (Self::Behind, subject) if subject.sets_secret() => &BEHIND_VALUE,
            (Self::Behind | Self::Name, _) => &CLAUSE_WORDS,
            (Self::Named, StatementSubject::SecretSet(_)) => &BEHIND_SETTING,
            (Self::Named, subject) if subject.is_about_logins() => &BEHIND_PASSWORD,
            (Self::Valued, subject) if subject.is_about_logins() => &LOGIN_VALUES,
            (Self::Named | Self::Valued, _) => &[],
        };
        // What goes on within a value is of it.
        let may_go_on = matches!(self, Self::Behind | Self::Name) && !subject.sets_secret();
        is_parameter(word)
            || is_charset(word)
            || (may_go_on && is_password_word(word))
            || words.iter().any(|known| word.eq_ignore_ascii_case(known))
    }
}

/// The place of a parameter, where it is read as a word.
fn is_parameter(word: &str) -> bool {
    let digits = word.strip_prefix('$').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_charset(word: &str) -> bool {
    let charset = word.strip_prefix('_').unwrap_or_default().to_ascii_lowercase();
    CHARSETS.contains(&charset.as_str())
}
