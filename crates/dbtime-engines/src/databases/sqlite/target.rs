//! The target `sqlite:PATH?name=value&…`: which file, opened how.

use super::settings::{SETTINGS, SqliteSetting, SqliteSettings};
use dbtime_model::percent;
use dbtime_model::shell;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A database file and the settings of its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteTarget {
    /// The file.
    pub path: PathBuf,
    /// How it is opened.
    pub settings: SqliteSettings,
}

/// Why a text is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqliteTargetError {
    /// Another scheme, or none.
    #[error("`{0}` is no SQLite target; write sqlite:PATH, such as sqlite:/tmp/atm.db")]
    Scheme(String),
    /// Nothing behind the colon.
    #[error("the target names no file; write sqlite:PATH, such as sqlite:/tmp/atm.db")]
    NoPath,
    /// `:memory:`.
    #[error(
        "sqlite::memory: is not possible: each worker has a connection of its own, and each would \
         get a database of its own; for a database without a disk name a file on a tmpfs, such as \
         sqlite:/dev/shm/atm.db"
    )]
    Memory,
    /// `%` without two hexadecimal digits, or a zero byte.
    #[error("`{0}` has a % without two hexadecimal digits after it (write % itself as %25)")]
    Escape(String),
    /// A setting without `=`.
    #[error("setting `{0}` has no value; write {0}=VALUE")]
    NoValue(String),
    /// No such setting.
    #[error("SQLite targets have no setting `{name}`; did you mean `{nearest}`? ({known})")]
    UnknownSetting {
        /// What was written.
        name: String,
        /// The known name most like it.
        nearest: &'static str,
        /// All names.
        known: String,
    },
    /// A value the setting does not take.
    #[error("`{value}` is no value for {name}; allowed is {allowed}")]
    Value {
        /// The setting.
        name: &'static str,
        /// What was written.
        value: String,
        /// What could have been.
        allowed: String,
    },
}

impl SqliteTarget {
    /// A file with default settings.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), settings: SqliteSettings::default() }
    }

    /// Sets a value, checked like one in the text of a target.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SqliteTargetError> {
        let setting = SqliteSetting::find(name).ok_or_else(|| unknown(name))?;
        let checked = setting.check(value).ok_or_else(|| SqliteTargetError::Value {
            name: setting.name,
            value: value.to_owned(),
            allowed: setting.allowed.to_string(),
        })?;
        self.settings.set(setting, checked);
        Ok(())
    }

    /// The folder the file lies in.
    pub fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

impl FromStr for SqliteTarget {
    type Err = SqliteTargetError;

    fn from_str(text: &str) -> Result<Self, SqliteTargetError> {
        let rest = text
            .strip_prefix("sqlite:")
            .ok_or_else(|| SqliteTargetError::Scheme(text.to_owned()))?;
        let (path, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let path = decode(path)?;
        if path.is_empty() {
            return Err(SqliteTargetError::NoPath);
        }
        if path == b":memory:" {
            return Err(SqliteTargetError::Memory);
        }
        let mut target = Self::new(OsString::from_vec(path));
        for pair in settings.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| SqliteTargetError::NoValue(pair.to_owned()))?;
            // What is no setting may be a key, which no error repeats.
            SqliteSetting::find(name).ok_or_else(|| unknown(name))?;
            target.set(name, &String::from_utf8_lossy(&decode(value)?))?;
        }
        Ok(target)
    }
}

impl fmt::Display for SqliteTarget {
    /// The file alone, as commands take it: characters with a meaning in targets are escaped,
    /// those with a meaning in a shell quoted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string().replace('%', "%25").replace('?', "%3F");
        f.write_str(&shell::quoted(&format!("sqlite:{path}")))
    }
}

fn unknown(name: &str) -> SqliteTargetError {
    let likeness = |s: &&SqliteSetting| (strsim::jaro_winkler(name, s.name) * 1e6) as u32;
    let nearest = SETTINGS.iter().max_by_key(likeness).map_or("", |setting| setting.name);
    let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    SqliteTargetError::UnknownSetting { name: name.to_owned(), nearest, known: names.join(", ") }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Result<Vec<u8>, SqliteTargetError> {
    percent::decode(text).ok_or_else(|| SqliteTargetError::Escape(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_path_and_settings() {
        let target: SqliteTarget = "sqlite:/tmp/a%20b.db?journal_mode=DELETE&busy_timeout=250ms"
            .parse()
            .expect("a good target");
        assert_eq!(target.path, Path::new("/tmp/a b.db"));
        assert_eq!(target.settings.get("journal_mode"), Some("delete"));
        assert_eq!(target.settings.get("synchronous"), Some("normal"));
        assert_eq!(target.settings.busy_timeout(), dbtime_model::Nanos::from_millis(250));
        assert_eq!(target.folder(), Path::new("/tmp"));
        assert_eq!(SqliteTarget::new("x.db").folder(), Path::new("."));
    }

    #[test]
    fn a_shown_target_is_read_back() {
        let target = SqliteTarget::new("/tmp/50%?.db");
        assert_eq!(target.to_string().parse(), Ok(target));
        assert_eq!(SqliteTarget::new("it's.db").to_string(), r"'sqlite:it'\''s.db'");
    }

    #[test]
    fn bad_targets_are_told_why() {
        let error = |text: &str| text.parse::<SqliteTarget>().expect_err(text).to_string();
        assert!(error("mysql://x").contains("sqlite:PATH"));
        assert!(error("sqlite:").contains("names no file"));
        assert!(error("sqlite::memory:").contains("connection of its own"));
        assert!(error("sqlite:x%4").contains("%25"));
        assert!(error("sqlite:x?immediate").contains("immediate=VALUE"));
        assert!(!error("sqlite:x?key=hush%").contains("hush"));
        assert!(error("sqlite:x?jornal_mode=wal").contains("did you mean `journal_mode`?"));
        assert!(error("sqlite:x?synchronous=fast").contains("off, normal, full, extra"));
        assert!(error("sqlite:x?busy_timeout=5").contains("500ms"));
    }
}
