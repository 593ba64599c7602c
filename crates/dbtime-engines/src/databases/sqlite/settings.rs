//! The settings of a connection: their names, allowed values and defaults, in one visible list.

use dbtime_model::Nanos;
use std::collections::BTreeMap;
use std::fmt;

/// What values a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum AllowedValues {
    /// One of these words, in the order in which SQLite numbers them.
    Words(&'static [&'static str]),
    /// A whole number in this range.
    Integer(i64, i64),
    /// A duration with its unit.
    Duration,
}

/// One setting that may stand behind the `?` of a target.
#[derive(Clone, Copy, Debug)]
pub struct SqliteSetting {
    /// Its name; that of the pragma, where it is one.
    pub name: &'static str,
    /// Its values.
    pub allowed: AllowedValues,
    /// What holds when it is not given; `None` leaves it to SQLite.
    pub default: Option<&'static str>,
    /// Whether it is set by a pragma and read back from it.
    pub is_pragma: bool,
}

const ON_OFF: AllowedValues = AllowedValues::Words(&["off", "on"]);
const JOURNAL_MODES: AllowedValues =
    AllowedValues::Words(&["wal", "delete", "truncate", "persist", "memory", "off"]);

const fn pragma(name: &'static str, allowed: AllowedValues) -> SqliteSetting {
    SqliteSetting { name, allowed, default: None, is_pragma: true }
}

/// Every setting, in the order in which they are applied: the page size before the journal that
/// makes it final, the locking mode before the log it decides on.
pub const SETTINGS: &[SqliteSetting] = &[
    pragma("page_size", AllowedValues::Integer(512, 65_536)),
    pragma("locking_mode", AllowedValues::Words(&["normal", "exclusive"])),
    SqliteSetting { default: Some("wal"), ..pragma("journal_mode", JOURNAL_MODES) },
    SqliteSetting {
        default: Some("normal"),
        ..pragma("synchronous", AllowedValues::Words(&["off", "normal", "full", "extra"]))
    },
    pragma("cache_size", AllowedValues::Integer(-(1 << 31), (1 << 31) - 1)),
    pragma("mmap_size", AllowedValues::Integer(0, 1 << 47)),
    pragma("wal_autocheckpoint", AllowedValues::Integer(0, (1 << 31) - 1)),
    pragma("temp_store", AllowedValues::Words(&["default", "file", "memory"])),
    pragma("foreign_keys", ON_OFF),
    SqliteSetting {
        name: "busy_timeout",
        allowed: AllowedValues::Duration,
        default: Some("5s"),
        is_pragma: false,
    },
    SqliteSetting { name: "immediate", allowed: ON_OFF, default: Some("on"), is_pragma: false },
];

impl fmt::Display for AllowedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => write!(f, "one of {}", words.join(", ")),
            Self::Integer(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Duration => write!(f, "a duration with its unit, such as 500ms or 5s"),
        }
    }
}

impl SqliteSetting {
    /// The setting of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// The value in its one spelling; `None` when it is not allowed.
    pub(crate) fn check(&self, value: &str) -> Option<String> {
        let value = value.to_ascii_lowercase();
        let is_allowed = match self.allowed {
            AllowedValues::Words(words) => words.contains(&value.as_str()),
            AllowedValues::Integer(least, most) => {
                let number: i64 = value.parse().ok()?;
                (least..=most).contains(&number)
                    && (self.name != "page_size" || number.cast_unsigned().is_power_of_two())
            }
            // SQLite counts its timeout in milliseconds, 31 bits of them. A bare number is refused:
            // it would be seconds here, and is milliseconds in the pragma of the same name.
            AllowedValues::Duration => {
                let has_unit = value == "0" || value.ends_with(|c: char| c.is_alphabetic());
                let length = value.parse::<Nanos>();
                has_unit && length.is_ok_and(|ns| ns < Nanos::from_secs(1 << 21))
            }
        };
        is_allowed.then_some(value)
    }

    /// What a pragma answered, in the spelling of [`SqliteSetting::check`].
    pub(crate) fn normalise(&self, answer: &str) -> String {
        let word = match self.allowed {
            AllowedValues::Words(words) => answer.parse().ok().and_then(|i: usize| words.get(i)),
            _ => None,
        };
        word.map_or_else(|| answer.to_ascii_lowercase(), |&word| word.to_owned())
    }
}

/// The values given or defaulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteSettings(BTreeMap<&'static str, String>);

impl Default for SqliteSettings {
    fn default() -> Self {
        let given = |s: &SqliteSetting| s.default.map(|value| (s.name, value.to_owned()));
        Self(SETTINGS.iter().filter_map(given).collect())
    }
}

impl SqliteSettings {
    /// The value of a setting; `None` where SQLite decides.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a value that [`SqliteSetting::check`] has allowed.
    pub(super) fn set(&mut self, setting: &'static SqliteSetting, value: String) {
        self.0.insert(setting.name, value);
    }

    /// Pragmas to issue, in their order.
    pub(super) fn pragmas(&self) -> impl Iterator<Item = (&'static SqliteSetting, &str)> {
        let pragmas = SETTINGS.iter().filter(|setting| setting.is_pragma);
        pragmas.filter_map(|setting| Some((setting, self.get(setting.name)?)))
    }

    /// How long a statement naps for a lock before it fails.
    pub(crate) fn busy_timeout(&self) -> Nanos {
        self.get("busy_timeout").and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// Whether a writer begins with BEGIN IMMEDIATE.
    pub(crate) fn is_immediate(&self) -> bool {
        self.get("immediate") == Some("on")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_allowed_values() {
        for setting in SETTINGS {
            let default = setting.default.map(|value| setting.check(value));
            assert!(default.is_none_or(|checked| checked.as_deref() == setting.default));
        }
        assert_eq!(SqliteSettings::default().busy_timeout(), Nanos::from_secs(5));
        assert!(SqliteSettings::default().is_immediate());
    }

    #[test]
    fn answers_and_values_share_one_spelling() {
        let find = |name| SqliteSetting::find(name).expect("a setting");
        assert_eq!(find("synchronous").normalise("1"), "normal");
        assert_eq!(find("foreign_keys").normalise("1"), "on");
        assert_eq!(find("journal_mode").normalise("WAL"), "wal");
        assert_eq!(find("cache_size").normalise("-2000"), "-2000");
        assert_eq!(find("journal_mode").check("WAL").as_deref(), Some("wal"));
        assert_eq!(find("page_size").check("5000"), None);
        assert_eq!(find("cache_size").check("2MB"), None);
        assert_eq!(find("busy_timeout").check("5"), None);
    }
}
