//! What a script declares before it is run: its options, its commands and its functions.

use super::lua_state::{CoroutineYield, LuaState, fatal_message, quiet};
use super::options::{CompatMode, DeclaredOption, OptionType, OptionValue};
use super::output::ScriptOutput;
use super::script::{SysbenchError, SysbenchSetup};
use super::settings::SysbenchSettings;
use super::{lua_host::ClientState, lua_state::CoroutineResume};
use dbtime_model::SqlDialect;
use mlua::{Function, Table, Value};
use std::sync::Arc;

/// The type of an option by the number that scripts use.
fn type_numbered(number: u32) -> OptionType {
    match number {
        0 => OptionType::Null,
        1 => OptionType::Bool,
        2 => OptionType::Int,
        3 => OptionType::Size,
        4 => OptionType::Double,
        6 => OptionType::List,
        7 => OptionType::File,
        _ => OptionType::Text,
    }
}

/// A command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredCommand {
    /// Its key in `sysbench.cmdline.commands`.
    pub name: String,
    /// Whether every thread runs it.
    pub is_parallel: bool,
}

/// All that a script declares; options and commands by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptDeclarations {
    /// `sysbench.cmdline.options`; `None`: the script declares none, and takes any.
    pub options: Option<Vec<DeclaredOption>>,
    /// `sysbench.cmdline.commands`.
    pub commands: Vec<DeclaredCommand>,
    /// Which of the functions that sysbench calls the script defines, `thread_run` only if it is
    /// the script's own.
    pub functions: Vec<&'static str>,
    /// Whether any of its files says how to get to a database.
    pub names_sql: bool,
}

const FUNCTIONS: [&str; 9] = [
    "init",
    "done",
    "prepare",
    "cleanup",
    "help",
    "event",
    "thread_init",
    "thread_run",
    "thread_done",
];

/// Runs a script once, without options and without a database, and says what it declares.
/// `command` is what it finds in `sysbench.cmdline.command`.
///
/// # Errors
/// There is no such script, or it fails.
pub fn declared_options(
    path: &str,
    command: Option<&str>,
    compat: CompatMode,
    output: ScriptOutput,
) -> Result<ScriptDeclarations, SysbenchError> {
    let settings =
        SysbenchSettings { compat, output, ..SysbenchSettings::new(path, SqlDialect::Mysql) };
    let mut setup = SysbenchSetup::new(settings)?;
    setup.command = command.map(str::to_owned);
    read(&open(Arc::new(setup))?).map_err(lua_error)
}

fn lua_error(error: mlua::Error) -> SysbenchError {
    SysbenchError::Lua(fatal_message(error))
}

/// A state with one client, that has run the script's body.
fn open(setup: Arc<SysbenchSetup>) -> Result<LuaState, SysbenchError> {
    let state = quiet(Arc::clone(&setup))?;
    state.add(0, 0, "declare").map_err(lua_error)?;
    let mut slot = Box::new(ClientState::new(0, setup.seed));
    match state.resume(&mut slot, CoroutineResume::Go) {
        CoroutineYield::Ready => Ok(state),
        CoroutineYield::Failed => Err(SysbenchError::Lua(setup.stop_reason().unwrap_or_default())),
        _ => Err(SysbenchError::Lua(format!(
            "FATAL: {} uses the database or sleeps outside of its functions; do so in thread_init() \
             or in a command",
            setup.settings.path
        ))),
    }
}

pub(super) fn read(state: &LuaState) -> mlua::Result<ScriptDeclarations> {
    let globals = state.globals(0)?;
    let sysbench: Table = globals.get("sysbench")?;
    let cmdline: Table = sysbench.get("cmdline")?;
    let own_run = state.own("thread_run")?;
    let mut functions = Vec::new();
    for name in FUNCTIONS {
        let value: Value = globals.get(name)?;
        if matches!(value, Value::Function(_)) && value != own_run {
            functions.push(name);
        }
    }
    let options: Option<Table> = cmdline.get("options")?;
    Ok(ScriptDeclarations {
        options: options.map(|options| read_options(state, &options)).transpose()?,
        commands: read_commands(cmdline.get("commands")?)?,
        functions,
        names_sql: state.lua_host.names_sql.get(),
    })
}

fn read_options(state: &LuaState, options: &Table) -> mlua::Result<Vec<DeclaredOption>> {
    let type_of: Function = as_function(state.own("type_of_option")?)?;
    let default_of: Function = as_function(state.own("default_of_option")?)?;
    let mut declared = Vec::new();
    for pair in options.pairs::<String, Table>() {
        let (name, option) = pair?;
        let kind = type_numbered(type_of.call(&option)?);
        let default = default_value(kind, default_of.call(&option)?);
        declared.push(DeclaredOption {
            description: option.get::<Option<String>>(1)?.unwrap_or_default(),
            kind,
            default,
            has_validate: matches!(option.get::<Value>(4)?, Value::Function(_)),
            name,
        });
    }
    declared.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(declared)
}

/// A default as the option's type has it.
fn default_value(kind: OptionType, texts: Option<Vec<String>>) -> OptionValue {
    match (texts, kind) {
        (None, _) => OptionValue::None,
        (Some(texts), OptionType::List) => OptionValue::List(texts),
        (Some(texts), _) => {
            let text = texts.into_iter().next().unwrap_or_default();
            // A default that is no value of its type stays what the script wrote.
            kind.read(Some(&text)).unwrap_or(OptionValue::Text(text))
        }
    }
}

fn as_function(value: Value) -> mlua::Result<Function> {
    value.as_function().cloned().ok_or_else(|| mlua::Error::runtime("a function was expected"))
}

fn read_commands(commands: Option<Table>) -> mlua::Result<Vec<DeclaredCommand>> {
    let mut declared = Vec::new();
    for pair in commands.iter().flat_map(|commands| commands.pairs::<String, Value>()) {
        // What is no command is none, until somebody calls it.
        let (name, Value::Table(command)) = pair? else { continue };
        if command.get::<Value>(1)?.is_nil() {
            continue;
        }
        let is_parallel = command.get::<Option<bool>>(2)?.unwrap_or(false);
        declared.push(DeclaredCommand { name, is_parallel });
    }
    declared.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(declared)
}
