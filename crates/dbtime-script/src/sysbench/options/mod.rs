//! sysbench's command line: what was asked, with its types.
//!
//! ```text
//!   argv ──► Arguments ──┬── before_script ──► Options (the script's own are left out)
//!     --config-file ─────┘                        │ which script, help, version, compat
//!                        └── options(declared) ──► Options, with all of `sysbench.opt`
//! ```
//!
//! Nothing here opens a file, runs a script or prints.

mod arguments;
mod error;
mod option_table;
mod typed;
mod typed_reader;
mod value;

#[cfg(test)]
mod tests;

pub use arguments::CommandArguments;
pub use error::OptionError;
pub use option_table::{KNOWN, KnownOption, OptionSection};
pub use typed::{
    DatabaseOptions, GeneralOptions, IgnoredErrors, MysqlOptions, PgsqlOptions, RandomType,
    SslMode, SysbenchExtras,
};
pub use value::{OptionType, OptionValue};

use arguments::{OptionSetting, dashed};
use dbtime_model::secret_text::is_secret_option;
use option_table::{OLDER, known};
use std::collections::BTreeMap;
use std::fmt;
use value::{boolean, integer};

/// Which sysbench a run is like, where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompatMode {
    /// 1.0.20.
    #[default]
    V1_0,
    /// 1.1, which was never released and is installed in many places.
    V1_1,
}

impl CompatMode {
    /// The version that scripts are told.
    pub fn version(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0.20",
            Self::V1_1 => "1.1.0",
        }
    }
}

/// An option that a script declares in `sysbench.cmdline.options`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredOption {
    /// Its name; dashes and underscores are the same.
    pub name: String,
    /// What the script says about it.
    pub description: String,
    /// The value where it is not given.
    pub default: OptionValue,
    /// How its value is written; [`OptionType::of`] the default where the script does not say.
    pub kind: OptionType,
    /// Whether the script wants to see its value before the run.
    pub has_validate: bool,
}

/// Everything that a command line says.
#[derive(Clone, PartialEq)]
pub struct SysbenchOptions {
    /// How the run goes.
    pub general: GeneralOptions,
    /// Which database.
    pub database: DatabaseOptions,
    /// What sysbench does not have.
    pub own: SysbenchExtras,
    /// What scripts find in `sysbench.opt`, by names with underscores.
    pub exported: BTreeMap<String, OptionValue>,
    /// Whether the script declares nothing: it finds all options as globals too.
    pub are_globals: bool,
    /// What is to be said before the run.
    pub warnings: Vec<String>,
}

/// What is said to whoever sets no end.
const ENDLESS: &str = "Both event and time limits are disabled, running an endless test";

/// Passwords are among what is left out.
impl fmt::Debug for SysbenchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("general", &self.general).finish_non_exhaustive()
    }
}

impl CommandArguments {
    /// What can be said before the script is there: options it may declare are left out.
    ///
    /// # Errors
    /// A wrong value.
    pub fn before_script(&self) -> Result<SysbenchOptions, OptionError> {
        OptionValues::read(self, Some(&[]), false)?.options()
    }

    /// What the command line says, with the options that the script declares. `None`: it declares
    /// none and takes any, as scripts for 0.5 did.
    ///
    /// # Errors
    /// An option that neither dbtime nor the script has, or a wrong value.
    pub fn options(
        &self,
        declared: Option<&[DeclaredOption]>,
    ) -> Result<SysbenchOptions, OptionError> {
        OptionValues::read(self, declared, true)?.options()
    }
}

/// The last word on every option.
struct OptionValues<'a> {
    compat: CompatMode,
    declared: &'a [DeclaredOption],
    assigned: BTreeMap<&'a str, Option<&'a str>>,
    /// What no one declares, where a script declares nothing.
    others: BTreeMap<String, String>,
    takes_any: bool,
    warnings: Vec<String>,
}

impl<'a> OptionValues<'a> {
    fn read(
        arguments: &'a CommandArguments,
        declared: Option<&'a [DeclaredOption]>,
        is_complete: bool,
    ) -> Result<Self, OptionError> {
        let (takes_any, declared) = (declared.is_none(), declared.unwrap_or_default());
        let mut values = Self {
            compat: CompatMode::default(),
            declared,
            assigned: BTreeMap::new(),
            others: BTreeMap::new(),
            takes_any,
            warnings: vec![],
        };
        for setting in &arguments.settings {
            let OptionSetting { name, value, written, is_from_file } = setting;
            if known(name).is_some() || values.declared(name).is_some() {
                values.assigned.insert(name, value.as_deref());
            } else if takes_any {
                let value = value.clone().unwrap_or_default();
                values.others.insert(name.replace('-', "_"), value);
            } else if *is_from_file && is_complete {
                let text =
                    format!("the configuration file's option {name} is unknown, and ignored");
                values.warnings.push(text);
            } else if is_complete {
                return Err(unknown(written, name, declared));
            }
        }
        values.older();
        values.compat = values.choice("compat", "1.0 or 1.1", |text| match text {
            "1.0" => Some(CompatMode::V1_0),
            "1.1" => Some(CompatMode::V1_1),
            _ => None,
        })?;
        Ok(values)
    }

    /// What is said by an older name holds for the name of today, wherever it stands; but the
    /// older name's default says nothing.
    fn older(&mut self) {
        for (older, name) in OLDER {
            let default = known(older).and_then(|known| integer(known.default));
            match self.assigned.get(older) {
                Some(&value) if integer(value.unwrap_or("")) != default => {
                    self.assigned.insert(name, value);
                    self.warnings.push(format!("--{older} is deprecated, use --{name} instead"));
                }
                _ => {}
            }
        }
    }

    fn declared(&self, name: &str) -> Option<&'a DeclaredOption> {
        self.declared.iter().find(|declared| dashed(&declared.name) == name)
    }

    /// What was given for a known option, or its default. `None`: it stood alone.
    fn text(&self, name: &str) -> Option<&'a str> {
        let Some(known) = known(name) else { return Some("") };
        // An option of dbtime's own gives way to one that the script declares.
        let is_ours = known.section != OptionSection::Dbtime || self.declared(name).is_none();
        let given = self.assigned.get(name).filter(|_| is_ours);
        given.copied().unwrap_or(Some(known.default(self.compat)))
    }

    fn wrong(&self, name: &str, form: &'static str) -> OptionError {
        let value = self.text(name).unwrap_or("").to_owned();
        OptionError::Value { option: name.to_owned(), value, form }
    }

    /// A value that is one of few, or is written in a way of its own.
    fn choice<T>(
        &self,
        name: &str,
        form: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, OptionError> {
        read(self.text(name).unwrap_or("")).ok_or_else(|| self.wrong(name, form))
    }

    fn flag(&self, name: &str) -> Result<bool, OptionError> {
        boolean(self.text(name)).ok_or_else(|| self.wrong(name, "on or off"))
    }

    fn options(mut self) -> Result<SysbenchOptions, OptionError> {
        let exported = self.exported()?;
        let (general, database, own) = (self.general()?, self.database()?, self.own()?);
        let (mut warnings, are_globals) = (std::mem::take(&mut self.warnings), self.takes_any);
        if general.events == 0 && general.time == 0 {
            warnings.push(ENDLESS.to_owned());
        }
        Ok(SysbenchOptions { general, database, own, exported, are_globals, warnings })
    }

    fn exported(&self) -> Result<BTreeMap<String, OptionValue>, OptionError> {
        let mut exported = BTreeMap::new();
        // The older name of the script is an option only where it is given.
        let is_seen = |known: &&KnownOption| match known.name {
            "test" => self.assigned.contains_key("test"),
            _ => known.section != OptionSection::Dbtime,
        };
        for known in KNOWN.iter().filter(is_seen) {
            let value = match (known.name, self.compat) {
                ("mysql-ssl", CompatMode::V1_0) => {
                    OptionValue::Bool(self.ssl()? != SslMode::Disabled)
                }
                ("mysql-ssl", CompatMode::V1_1) => OptionValue::Text(self.ssl()?.name().to_owned()),
                (name, _) => self.value(name, known.kind, self.text(name))?,
            };
            exported.insert(known.name.replace('-', "_"), value);
        }
        exported.insert("verbosity".to_owned(), OptionValue::Number(self.verbosity()?.into()));
        for declared in self.declared {
            let name = dashed(&declared.name);
            let value = match self.assigned.get(name.as_str()) {
                Some(&given) => self.value(&name, declared.kind, given)?,
                None => or_empty(declared),
            };
            exported.insert(name.replace('-', "_"), value);
        }
        let others = self.others.iter();
        exported.extend(others.map(|(name, text)| (name.clone(), OptionValue::Text(text.clone()))));
        Ok(exported)
    }

    fn value(
        &self,
        name: &str,
        kind: OptionType,
        text: Option<&str>,
    ) -> Result<OptionValue, OptionError> {
        kind.read(text).map_err(|form| OptionError::Value {
            option: name.to_owned(),
            value: text.unwrap_or("").to_owned(),
            form,
        })
    }
}

/// The default of a declared option; one without is what the option is when it stands alone: a
/// switch is on, and everything else empty.
fn or_empty(declared: &DeclaredOption) -> OptionValue {
    match (&declared.default, declared.kind) {
        (OptionValue::None, OptionType::Bool) => OptionValue::Bool(true),
        (OptionValue::None, kind) => kind.read(Some("")).unwrap_or_default(),
        (_, OptionType::File | OptionType::Null) => OptionValue::None,
        (default, _) => default.clone(),
    }
}

/// Whether a word of a command line is an option that sysbench does not have.
pub fn is_of_dbtime(word: &str) -> bool {
    let option = word.strip_prefix("--").map(|text| text.split('=').next().unwrap_or(text));
    let known = option.and_then(|name| known(&dashed(name)));
    known.is_some_and(|known| known.section == OptionSection::Dbtime)
}

fn unknown(written: &str, name: &str, declared: &[DeclaredOption]) -> OptionError {
    const MIN_SIMILARITY: f64 = 0.6;
    let names = KNOWN.iter().map(|known| known.name);
    let names = names.chain(declared.iter().map(|declared| declared.name.as_str()));
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(name, &dashed(other));
    let nearest =
        names.map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness > MIN_SIMILARITY);
    let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.to_owned());
    let is_meant = nearest.as_ref().is_some_and(|name| is_password(name));
    let is_secret = is_meant || name.contains("pass") || is_secret_option(name, written);
    let given = if is_secret { format!("--{name}") } else { written.to_owned() };
    OptionError::Unknown { given, nearest }
}

/// Whether the value of an option is a secret: of a misspelt one no error shows it.
fn is_password(name: &str) -> bool {
    name.ends_with("password") || name == "target"
}
