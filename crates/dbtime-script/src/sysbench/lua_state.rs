//! One LuaJIT state, with our own Lua in it and any number of clients.

use super::api;
use super::dispatch::LuaDispatch;
use super::lua_host::{ClientState, LuaHost};
use super::options::{CompatMode, OptionValue};
use super::paths;
use super::script::{SysbenchError, SysbenchSetup};
use super::settings::{ScriptOptions, SysbenchCommand, driver_name};
use mlua::{Function, Lua, Result, Table};
use std::rc::Rc;
use std::sync::Arc;

/// Our own Lua, in the order it is loaded.
const FILES: [(&str, &str); 12] = [
    ("=callbacks", include_str!("lua/callbacks.lua")),
    ("=random", include_str!("lua/random.lua")),
    ("=modules", include_str!("lua/modules.lua")),
    ("=report", include_str!("lua/report.lua")),
    // Scripts see what it says of them under the name that it has in sysbench.
    ("sysbench.cmdline.lua", include_str!("lua/cmdline.lua")),
    ("=client", include_str!("lua/client.lua")),
    ("=sql", include_str!("lua/sql.lua")),
    ("=bulk", include_str!("lua/bulk.lua")),
    ("=statement", include_str!("lua/statement.lua")),
    ("=legacy", include_str!("lua/legacy.lua")),
    ("=programs", include_str!("lua/programs.lua")),
    ("=environment", include_str!("lua/environment.lua")),
];

/// What a client wants when it comes back from Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoroutineYield {
    /// To perform the operation in its slot.
    Call,
    /// The pause in its slot.
    Sleep,
    /// Its transaction is over, and it waits for the next.
    Done,
    /// It is ready for its first transaction.
    Ready,
    /// It wants no more transactions.
    Over,
    /// It has come to its end.
    Closed,
    Failed,
}

impl CoroutineYield {
    const ALL: [(&str, Self); 7] = [
        ("call", Self::Call),
        ("sleep", Self::Sleep),
        ("done", Self::Done),
        ("ready", Self::Ready),
        ("over", Self::Over),
        ("closed", Self::Closed),
        ("failed", Self::Failed),
    ];

    /// Scripts yield to themselves too, so these are numbers that they hardly use.
    const FIRST_CODE: u32 = 0x5b5e_0000;

    fn of(number: u32) -> Self {
        let index = number.wrapping_sub(Self::FIRST_CODE) as usize;
        Self::ALL.get(index).map_or(Self::Failed, |(_, yielded)| *yielded)
    }
}

/// What a client is resumed with.
#[derive(Clone, Copy, Debug)]
pub(super) enum CoroutineResume {
    /// Go on: with a transaction, after a pause, or from the beginning.
    Go,
    /// There are no more transactions.
    Stop,
    /// Its request was answered with so many columns and rows.
    Answered(u32, u32),
    /// Its request failed.
    Failed,
}

/// What went wrong in Lua.
pub(super) fn fatal_message(error: impl std::fmt::Display) -> String {
    format!("FATAL: {error}")
}

/// A state. It stays on its thread.
pub(super) struct LuaState {
    lua: Lua,
    dispatch: LuaDispatch,
    runtime: Table,
    pub(super) lua_host: Rc<LuaHost>,
}

impl LuaState {
    pub(super) fn new(lua_host: LuaHost) -> std::result::Result<Self, SysbenchError> {
        Self::load(Rc::new(lua_host)).map_err(|error| SysbenchError::Lua(fatal_message(error)))
    }

    fn load(lua_host: Rc<LuaHost>) -> Result<Self> {
        // SAFETY: scripts may use `ffi` and load libraries, as under sysbench. Whoever runs a
        // script trusts it as he trusts a program.
        let lua = unsafe { Lua::unsafe_new() };
        if lua_host.setup.settings.memory_limit > 0 {
            lua.set_memory_limit(lua_host.setup.settings.memory_limit)?;
        }
        let runtime = lua.create_table()?;
        let host = constants(&lua, &lua_host.setup)?;
        api::install(&lua, &host, &lua_host)?;
        runtime.set("host", host)?;
        let codes = lua.create_table()?;
        for (index, (name, _)) in CoroutineYield::ALL.iter().enumerate() {
            codes.set(*name, CoroutineYield::FIRST_CODE + index as u32)?;
        }
        runtime.set("code", codes)?;
        for (name, source) in FILES {
            lua.load(source).set_name(name).call::<()>(&runtime)?;
        }
        let dispatch = LuaDispatch::new(&lua, runtime.get("dispatch")?)?;
        let state = Self { dispatch, lua, runtime, lua_host };
        state.give_options(&state.lua_host.setup.settings.options)?;
        Ok(state)
    }

    /// Gives the script's clients options, in place of those that it has.
    pub(super) fn give_options(&self, options: &ScriptOptions) -> Result<()> {
        let table = self.lua.create_table()?;
        table.set("threads", self.lua_host.setup.settings.threads)?;
        for (name, value) in &options.values {
            match value {
                OptionValue::None => {}
                OptionValue::Bool(flag) => table.set(name.as_str(), *flag)?,
                OptionValue::Number(number) => table.set(name.as_str(), *number)?,
                OptionValue::Text(text) => table.set(name.as_str(), text.as_str())?,
                OptionValue::List(texts) => table.set(name.as_str(), texts.as_slice())?,
            }
        }
        self.runtime.set("options", table)?;
        self.runtime.set("are_globals", options.are_globals)
    }

    /// A new client at its beginning; `life` says which of the lives of `client.lua` it leads.
    pub(super) fn add(&self, index: u32, tid: u32, life: &str) -> Result<()> {
        self.runtime.get::<Function>("add_client")?.call((index, tid, life))
    }

    /// Forgets a client.
    pub(super) fn remove(&self, index: u32) {
        // A state without memory has nothing left to forget it with.
        let _ = self.runtime.get::<Function>("remove_client").and_then(|f| f.call::<()>(index));
    }

    /// Resumes a client, whose slot it is, until it wants something.
    #[inline]
    pub(super) fn resume(
        &self,
        slot: &mut Box<ClientState>,
        reply: CoroutineResume,
    ) -> CoroutineYield {
        let client = slot.client;
        self.lua_host.visits.enter(client);
        std::mem::swap(&mut *self.lua_host.slot.borrow_mut(), slot);
        let yielded = self.dispatch.call(client, reply);
        std::mem::swap(&mut *self.lua_host.slot.borrow_mut(), slot);
        self.lua_host.visits.leave();
        match yielded {
            Ok(number) => CoroutineYield::of(number),
            Err(error) => {
                self.lua_host.report_fatal(&fatal_message(error), "");
                CoroutineYield::Failed
            }
        }
    }

    /// A function or value of our own Lua.
    pub(super) fn own(&self, name: &str) -> Result<mlua::Value> {
        self.runtime.get(name)
    }

    /// The globals of a client.
    pub(super) fn globals(&self, index: u32) -> Result<Table> {
        self.runtime.get::<Function>("environment_of")?.call(index)
    }
}

impl Drop for LuaState {
    fn drop(&mut self) {
        // An allocation that is refused in the middle of LuaJIT's own work may leave its books
        // wrong by a few bytes, and a debug build of it stops the process over that when a state
        // is closed. The run is over then, so the state is left to the system.
        if self.lua_host.is_full.get() {
            std::mem::forget(self.lua.clone());
        }
    }
}

/// What Lua is told once.
fn constants(lua: &Lua, setup: &SysbenchSetup) -> Result<Table> {
    let host = lua.create_table()?;
    let settings = &setup.settings;
    host.set("file", setup.file.as_str())?;
    host.set("module", setup.module.as_deref())?;
    host.set("source", settings.source.as_deref())?;
    host.set("script", settings.source.is_none().then_some(settings.path.as_str()))?;
    host.set("script_name", settings.name())?;
    host.set("package_path", paths::lua_path(&settings.data_dir))?;
    host.set("package_cpath", paths::lua_cpath())?;
    host.set("version", settings.compat.version())?;
    host.set("driver_name", driver_name(settings.driver))?;
    host.set("prepares", setup.prepares)?;
    host.set("gives_results", settings.compat == CompatMode::V1_0)?;
    host.set("command", setup.command.as_deref())?;
    host.set("percentile", settings.options.number("percentile").unwrap_or(95.0))?;
    let argv = lua.create_table()?;
    for (index, word) in settings.argv.iter().enumerate() {
        argv.set(index, word.as_str())?;
    }
    host.set("argv", argv)?;
    Ok(host)
}

/// Which life the clients of a command lead.
pub(super) fn lifecycle_of(command: &SysbenchCommand) -> &'static str {
    match command {
        SysbenchCommand::Run => "run",
        SysbenchCommand::Named { .. } => "command",
    }
}

/// The setup that a state of its own needs, where nobody reads its counters.
pub(super) fn quiet(setup: Arc<SysbenchSetup>) -> std::result::Result<LuaState, SysbenchError> {
    LuaState::new(LuaHost::new(setup, Arc::default()))
}
