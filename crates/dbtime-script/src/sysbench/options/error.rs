//! What can be wrong with a sysbench command line. Each ends the program with exit code 1.

/// A wrong command line, in words for whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no such option, neither here nor in the script.
    #[error("invalid option: {given}{}", nearest.as_ref().map_or(String::new(), |name| format!("; did you mean --{name}?")))]
    Unknown {
        /// As it was written; without the value where that may be a password.
        given: String,
        /// The name most like it.
        nearest: Option<String>,
    },
    /// The option does not take such a value.
    #[error("invalid value for the '{option}' option: '{value}'; give {form}")]
    Value {
        /// Its name, without dashes before it.
        option: String,
        /// As it was written.
        value: String,
        /// What it takes, after "give".
        form: &'static str,
    },
    /// A third word beside the script and the command.
    #[error(
        "unrecognized command line argument: {0}; give one script and one command, and options as \
         --name=value"
    )]
    Argument(String),
    /// The configuration file cannot be read.
    #[error("cannot read the configuration file {path}: {reason}")]
    ConfigFile {
        /// As it was written.
        path: String,
        /// What whoever reads it said.
        reason: String,
    },
}
