//! What scripts are made of.

use super::expression::Expression;
use super::names::NameSlot;
use super::template::StatementTemplate;

/// A script that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedScript {
    /// Its name in reports: the file, or the description of a built-in one.
    pub name: String,
    /// Its commands; never none.
    pub commands: Vec<ScriptCommand>,
}

/// A command of a script. `\gset` and `\aset` belong to the SQL before them.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptCommand {
    /// Its first line, as reports show it.
    pub first_line: String,
    /// What it does.
    pub kind: CommandKind,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandKind {
    /// SQL; several statements where they are joined by `\;`.
    Sql(SqlCommand),
    /// `\set`
    Set(NameSlot, Expression),
    /// `\if`
    If {
        /// Whether what follows is run.
        condition: Expression,
        /// Else: the next `\elif`, `\else` or `\endif`.
        otherwise: usize,
    },
    /// `\elif`
    Elif {
        /// Whether what follows is run.
        condition: Expression,
        /// Else: the next `\elif`, `\else` or `\endif`.
        otherwise: usize,
        /// The `\endif`, after what came before was run.
        end: usize,
    },
    /// `\else`
    Else {
        /// The `\endif`, after what came before was run.
        end: usize,
    },
    /// `\endif`
    Endif,
    /// `\sleep`
    Sleep {
        /// A number, or the variable that holds it.
        length: CommandLength,
        /// Microseconds of one.
        unit: i64,
    },
    /// `\shell`: its words.
    Shell(Vec<ShellWord>),
    /// `\setshell`: what it sets, and the words.
    SetShell(NameSlot, Vec<ShellWord>),
    /// `\startpipeline`
    StartPipeline,
    /// `\syncpipeline`
    SyncPipeline,
    /// `\endpipeline`
    EndPipeline,
}

/// An SQL command.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlCommand {
    /// As it is written, with `:name`.
    pub text: String,
    /// Cut at its variables.
    pub template: StatementTemplate,
    /// What becomes of its rows.
    pub keep: ResultStorage,
}

/// What becomes of the rows of an SQL command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResultStorage {
    /// They are thrown away.
    #[default]
    Nothing,
    /// `\gset`: the one row of the last statement goes into variables with this prefix.
    One(String),
    /// `\aset`: the last row of every statement does.
    Every(String),
}

/// The length of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLength {
    /// Always so many units.
    Fixed(i64),
    /// As many as a variable says.
    Variable(NameSlot),
}

/// A word of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellWord {
    /// As it stands.
    Text(String),
    /// What a variable holds.
    Variable(NameSlot),
}

impl CommandKind {
    /// The name of its backslash command; `SQL` for what is none.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sql(_) => "SQL",
            Self::Set(..) => "set",
            Self::If { .. } => "if",
            Self::Elif { .. } => "elif",
            Self::Else { .. } => "else",
            Self::Endif => "endif",
            Self::Sleep { .. } => "sleep",
            Self::Shell(_) => "shell",
            Self::SetShell(..) => "setshell",
            Self::StartPipeline => "startpipeline",
            Self::SyncPipeline => "syncpipeline",
            Self::EndPipeline => "endpipeline",
        }
    }
}
