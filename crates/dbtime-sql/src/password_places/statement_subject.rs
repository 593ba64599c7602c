//! What a statement is about, by its first words: logins, settings, keys of files.

use dbtime_model::secret_text::is_secret_setting;

/// Settings, plugins and clauses whose names end like a secret's, and are none.
const HARMLESS_SETTINGS: [&str; 6] = [
    "caching_sha2_password",
    "default_auth",
    "disconnect_on_expired_password",
    "mysql_native_password",
    "sha256_password",
    "validate_password",
];

/// What a statement is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StatementSubject {
    /// None of its words was met.
    #[default]
    Unsaid,
    /// `CREATE` and its like: of what, follows.
    Defined,
    /// A database or a server, whose settings may follow.
    Configured,
    Set,
    /// `SET`, where the name of a setting stands or follows.
    Settings,
    /// The value of one that is no secret. It may be an expression, within so many parentheses.
    Assigned(u16),
    /// The name of one that is a secret, by its end, and its value, within so many parentheses.
    SecretSet(u16),
    Started,
    /// `GRANT`: up to `TO` names belong to objects and roles.
    Granted,
    /// Logins, here or on other servers.
    Logins,
    /// `SET` of a login: a setting of its own, with its value as in `SecretSet`, or an option.
    LoginSet(u16),
    /// `ATTACH`: a file of SQLite's, which may have a key.
    Attached,
    Pragma,
    /// `PRAGMA key` and its like.
    KeyPragma,
    Other,
}

/// What a statement begins with in which words may be passwords that lack their quotes, and what
/// it is about then.
pub(super) const FIRST_WORDS: [(&str, StatementSubject); 9] = [
    ("alter", StatementSubject::Defined),
    ("attach", StatementSubject::Attached),
    ("change", StatementSubject::Logins),
    ("create", StatementSubject::Defined),
    ("drop", StatementSubject::Defined),
    ("grant", StatementSubject::Granted),
    ("pragma", StatementSubject::Pragma),
    ("set", StatementSubject::Set),
    ("start", StatementSubject::Started),
];

impl StatementSubject {
    fn of_first(word: &str) -> Self {
        let known = FIRST_WORDS.iter().find(|(first, _)| *first == word);
        known.map_or(Self::Other, |(_, subject)| *subject)
    }

    /// With the next word.
    pub(super) fn after(self, word: &str) -> Self {
        use StatementSubject::{
            Assigned, Configured, Defined, Granted, KeyPragma, LoginSet, Logins, Other, Pragma,
            SecretSet, Set, Settings, Started, Unsaid,
        };
        let word = word.to_ascii_lowercase();
        match (self, word.as_str()) {
            (Unsaid, word) => Self::of_first(word),
            (Defined, "or" | "replace") => Defined,
            (Defined, "user" | "role" | "group" | "login" | "server" | "subscription") => Logins,
            (Defined, "database" | "system") => Configured,
            (Configured, "set") => Settings,
            (Granted, "to") => Logins,
            (Logins, "set") => LoginSet(0),
            (Set, "default" | "local" | "session" | "global") => Set,
            // Also misspelt.
            (Set, word) if word == "role" || word.starts_with("pas") => Logins,
            (Set, "authorization" | "constraints") => Other,
            // A statement of its own follows, as behind `SET STATEMENT x = 1 FOR`.
            (Settings | SecretSet(_) | Assigned(0), "for") => Unsaid,
            (Settings, "to") => Assigned(0),
            (Set | Settings, word) if is_secret_setting_name(word) => SecretSet(0),
            (Set, _) => Settings,
            (Started, "replica" | "slave" | "group_replication") => Logins,
            // `rekey`, `hexkey`, `textkey`, also behind the name of a schema.
            (Pragma, word) if word.ends_with("key") => KeyPragma,
            (Defined | Started | Other, _) => Other,
            _ => self,
        }
    }

    /// With the next sign.
    pub(super) fn after_sign(self, sign: &[u8]) -> Self {
        use StatementSubject::{Assigned, LoginSet, Logins, SecretSet, Settings, Unsaid};
        match (self, sign) {
            (_, b";") => Unsaid,
            (Settings, b"=") => Assigned(0),
            (SecretSet(0) | Assigned(0), b",") => Settings,
            (LoginSet(0), b",") => Logins,
            (Assigned(depth), _) => Assigned(depth_behind(depth, sign)),
            (SecretSet(depth), _) => SecretSet(depth_behind(depth, sign)),
            (LoginSet(depth), _) => LoginSet(depth_behind(depth, sign)),
            _ => self,
        }
    }

    pub(super) fn is_about_logins(self) -> bool {
        matches!(self, Self::Logins | Self::LoginSet(_) | Self::Granted)
    }

    /// Whether the value of a setting may follow that is a secret.
    pub(super) fn sets_secret(self) -> bool {
        matches!(self, Self::SecretSet(_) | Self::LoginSet(_))
    }
}

/// Within how many parentheses it is behind a sign.
fn depth_behind(depth: u16, sign: &[u8]) -> u16 {
    match sign {
        b"(" => depth.saturating_add(1),
        b")" => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Whether the value of a setting of this name is a secret.
pub(super) fn is_secret_setting_name(name: &str) -> bool {
    // By its name: this value is none of those that are plainly no secret.
    is_secret_setting(name, "x") && !is_harmless_setting(name)
}

/// Whether a name that ends as those of secrets do is known to be none.
pub(super) fn is_harmless_setting(name: &str) -> bool {
    HARMLESS_SETTINGS.iter().any(|known| name.eq_ignore_ascii_case(known))
}
