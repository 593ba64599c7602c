//! A command line cut into script, command and settings; what they mean is said later, when the
//! script has declared its options.

use super::error::OptionError;
use dbtime_model::secret_text::without_secrets;
use std::fmt;

/// A command line, after `sysbench`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CommandArguments {
    /// The script: a file, or the name of one in the places where scripts are.
    pub script: Option<String>,
    /// What to do with it: `run`, `prepare`, or a command of its own.
    pub command: Option<String>,
    /// Whether the script was named by the older `--test`.
    pub has_test: bool,
    pub(super) settings: Vec<OptionSetting>,
}

/// One `--name=value`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct OptionSetting {
    /// With dashes between its words.
    pub(super) name: String,
    /// `None`: it stood alone.
    pub(super) value: Option<String>,
    pub(super) written: String,
    /// Whether a configuration file said it.
    pub(super) is_from_file: bool,
}

/// Settings are left out, for there may be passwords among them.
impl fmt::Debug for CommandArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, command, .. } = self;
        f.debug_tuple("Arguments").field(script).field(command).finish()
    }
}

impl OptionSetting {
    fn read(text: &str, written: &str, is_from_file: bool) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        Self { name: dashed(name), value, written: written.to_owned(), is_from_file }
    }
}

/// The name of an option with dashes between its words: underscores are the same.
pub(super) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

impl CommandArguments {
    /// Cuts a command line. `open` gives the text of a `--config-file`, whose settings count as if
    /// they stood in its place: what is said later wins.
    ///
    /// # Errors
    /// A third word beside script and command, or a configuration file that cannot be read.
    pub fn read<T: AsRef<str>>(
        arguments: impl IntoIterator<Item = T>,
        mut open: impl FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, OptionError> {
        let mut read = Self::default();
        for argument in arguments {
            let argument = argument.as_ref();
            match argument.strip_prefix("--") {
                Some(text) => read.set(OptionSetting::read(text, argument, false), &mut open)?,
                None => read.word(argument)?,
            }
        }
        Ok(read)
    }

    /// What was given for options by name, with dashes; `None`: it stood alone.
    pub fn assignments(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.settings.iter().map(|setting| (setting.name.as_str(), setting.value.as_deref()))
    }

    fn set(
        &mut self,
        setting: OptionSetting,
        open: &mut impl FnMut(&str) -> Result<String, String>,
    ) -> Result<(), OptionError> {
        if setting.name == "test" {
            // Sysbench 0.5 named its script so.
            self.has_test = true;
            self.script = setting.value.clone();
        }
        if setting.name == "config-file" {
            let path = setting.value.clone().unwrap_or_default();
            let text = open(&path).map_err(|reason| OptionError::ConfigFile { path, reason })?;
            self.settings.extend(of_file(&text));
        }
        self.settings.push(setting);
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), OptionError> {
        let free = [&mut self.script, &mut self.command].into_iter().find(|place| place.is_none());
        match free {
            Some(place) => *place = Some(word.to_owned()),
            None => return Err(OptionError::Argument(without_secrets(word).into_owned())),
        }
        Ok(())
    }
}

/// The settings of a configuration file: `name=value` or `name`; `#` begins a comment line, and
/// lines in brackets are left out.
fn of_file(text: &str) -> impl Iterator<Item = OptionSetting> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '['])).map(|line| {
        let bare = line.trim_start_matches("--");
        let setting = match bare.split_once('=') {
            Some((name, value)) => format!("{}={}", name.trim(), value.trim()),
            None => bare.to_owned(),
        };
        OptionSetting::read(&setting, line, true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<CommandArguments, OptionError> {
        CommandArguments::read(line.split_whitespace(), |path| Err(format!("{path} is not there")))
    }

    #[test]
    fn script_and_command_are_the_words_between_options() {
        let read = read("--threads=4 oltp.lua --time=3 run --histogram").expect("a line");
        assert_eq!(read.script.as_deref(), Some("oltp.lua"));
        assert_eq!(read.command.as_deref(), Some("run"));
        assert_eq!(read.settings.len(), 3);
        assert_eq!(read.settings[2].value, None);
    }

    #[test]
    fn a_value_behind_a_blank_is_a_word_too_many() {
        let error = read("--threads 4 oltp.lua run").expect_err("three words");
        assert_eq!(
            error.to_string(),
            "unrecognized command line argument: run; give one script and one command, and options \
             as --name=value"
        );
    }

    #[test]
    fn a_word_too_many_keeps_its_password() {
        let error = read("oltp.lua run mysql://u:hush@h/d").expect_err("three words").to_string();
        assert!(error.contains("mysql://u:***@h/d") && !error.contains("hush"), "{error}");
    }

    #[test]
    fn a_configuration_file_counts_where_it_stands() {
        let text = "threads=3\n# no\n[section]\n --time = 2 \n\nhistogram\n";
        let line = ["--threads=1", "--config-file=cfg", "--time=9"];
        let read = CommandArguments::read(line, |_| Ok(text.to_owned())).expect("a line");
        let assignments: Vec<_> =
            read.settings.iter().map(|s| (s.name.as_str(), s.value.as_deref())).collect();
        let expected = [
            ("threads", Some("1")),
            ("threads", Some("3")),
            ("time", Some("2")),
            ("histogram", None),
            ("config-file", Some("cfg")),
            ("time", Some("9")),
        ];
        assert_eq!(assignments, expected);
    }

    #[test]
    fn a_configuration_file_that_is_not_there_is_an_error() {
        let error = read("--config-file=cfg").expect_err("no file");
        assert_eq!(error.to_string(), "cannot read the configuration file cfg: cfg is not there");
    }
}
