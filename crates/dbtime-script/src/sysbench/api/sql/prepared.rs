//! Statements that are prepared once and executed with values.

use super::{rewrite_for_sqlite, utf8};
use crate::sysbench::api::HostFunctions;
use crate::sysbench::literal;
use crate::sysbench::lua_host::{ClientState, HostCall, LuaHost, ParameterKind, PreparedQuery};
use dbtime_load::program::SqlValue;
use dbtime_model::SqlDialect;
use mlua::{LightUserData, LuaString, Result, Value as LuaArgument, Variadic};
use std::borrow::Cow;
use std::ffi::c_void;

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    statements(host)?;
    executions(host)
}

fn statements(host: &HostFunctions<'_>) -> Result<()> {
    host.define("new_handle", |_, on, ()| {
        let prepared = &mut on.slot.borrow_mut().prepared;
        let free = prepared.iter().position(Option::is_none).unwrap_or(prepared.len());
        if free == prepared.len() {
            prepared.push(None);
        }
        // Taken from here on, whether it is prepared now or once it is bound.
        let id = dbtime_model::StatementId(0);
        prepared[free] = Some(PreparedQuery { id, kinds: Box::default(), text: None });
        Ok(free)
    })?;
    host.define("prepare", |_, on, (handle, sql): (u32, LuaString)| {
        prepare(on, handle, &utf8(&sql)?);
        Ok(())
    })?;
    host.define("bind", |_, on, (handle, letters): (usize, LuaString)| {
        let kind = |letter: &u8| match letter {
            b'i' => ParameterKind::Integer,
            b'r' => ParameterKind::Real,
            _ => ParameterKind::Text,
        };
        if let Some(Some(prepared)) = on.slot.borrow_mut().prepared.get_mut(handle) {
            prepared.kinds = letters.as_bytes().iter().map(kind).collect();
        }
        Ok(())
    })?;
    host.define("free_handle", |_, on, handle: usize| {
        if let Some(prepared) = on.slot.borrow_mut().prepared.get_mut(handle) {
            *prepared = None;
        }
        Ok(())
    })?;
    host.define("close", |_, on, handle: u32| {
        let slot = &mut *on.slot.borrow_mut();
        slot.handle = handle;
        slot.set_call(HostCall::Close);
        Ok(())
    })
}

/// The number of the statement is found here, so that executing it looks nothing up.
fn prepare(lua_host: &LuaHost, handle: u32, sql: &str) {
    let setup = &lua_host.setup;
    let sql = match setup.settings.driver {
        SqlDialect::Postgres if setup.prepares => Cow::Owned(literal::numbered(sql)),
        _ => rewrite_for_sqlite(lua_host, sql),
    };
    let id = lua_host.number(&sql);
    let slot = &mut *lua_host.slot.borrow_mut();
    slot.set_call(HostCall::Prepare);
    slot.handle = handle;
    slot.text.clear();
    slot.text.push_str(&sql);
    let text = (!setup.prepares).then(|| Box::from(&*sql));
    if let Some(prepared) = slot.prepared.get_mut(handle as usize) {
        *prepared = Some(PreparedQuery { id, kinds: Box::default(), text });
    }
}

fn executions(host: &HostFunctions<'_>) -> Result<()> {
    type Few = (u32, LuaArgument, LuaArgument, LuaArgument, LuaArgument);
    host.define("execute", |_, on, (handle, a, b, c, d): Few| execute(on, handle, &[a, b, c, d]))?;
    host.define("execute_many", |_, on, (handle, values): (u32, Variadic<LuaArgument>)| {
        execute(on, handle, &values)
    })?;
    host.table.set("put_numbers", LightUserData(put_numbers as *mut c_void))
}

/// Asks for a statement whose parameters are numbers, at most four. Returns 0 where it has others,
/// or is none of the server's: then it goes the long way. LuaJIT calls this from what it has
/// compiled.
///
/// # Safety
/// `lua_host` is the address that the Lua state was given, and that state is alive: it holds a
/// share in the host for as long.
unsafe extern "C" fn put_numbers(
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    lua_host: *const LuaHost,
    handle: u32,
    count: u32,
) -> u32 {
    // SAFETY: see above; the host is only ever shared.
    let lua_host = unsafe { &*lua_host };
    let numbers = [a, b, c, d];
    let is_put = lua_host.slot.try_borrow_mut().ok().zip(numbers.get(..count as usize));
    u32::from(is_put.is_some_and(|(mut slot, numbers)| put(&mut slot, handle, numbers)))
}

#[inline]
fn put(slot: &mut ClientState, handle: u32, numbers: &[f64]) -> bool {
    let ClientState { call, values, statement, prepared, handle: own, .. } = slot;
    let Some(Some(prepared)) = prepared.get(handle as usize) else { return false };
    if prepared.text.is_some() || prepared.kinds.len() != numbers.len() {
        return false;
    }
    values.resize(numbers.len(), SqlValue::Null);
    for ((value, kind), number) in values.iter_mut().zip(&*prepared.kinds).zip(numbers) {
        *value = match kind {
            ParameterKind::Integer => SqlValue::Integer(*number as i64),
            ParameterKind::Real => SqlValue::Real(*number),
            ParameterKind::Text => return false,
        };
    }
    (*call, *own, *statement) = (HostCall::Execute, handle, Some(prepared.id));
    true
}

#[inline]
fn execute(lua_host: &LuaHost, handle: u32, argument: &[LuaArgument]) -> Result<()> {
    let ClientState { call, text, values, statement, prepared, handle: own, .. } =
        &mut **lua_host.slot.borrow_mut();
    let Some(Some(prepared)) = prepared.get(handle as usize) else {
        return Err(mlua::Error::runtime("the statement is closed"));
    };
    values.resize(prepared.kinds.len(), SqlValue::Null);
    for (index, (value, &kind)) in values.iter_mut().zip(&*prepared.kinds).enumerate() {
        set(value, kind, argument.get(index))?;
    }
    (*call, *own, *statement) = (HostCall::Execute, handle, Some(prepared.id));
    if let Some(pattern) = &prepared.text {
        let has_escapes = lua_host.setup.settings.driver == SqlDialect::Mysql;
        literal::filled(pattern, values, has_escapes, text);
        *call = HostCall::Query;
    }
    Ok(())
}

/// The value as its parameter's type has it. A text keeps its room.
#[inline]
fn set(value: &mut SqlValue, kind: ParameterKind, argument: Option<&LuaArgument>) -> Result<()> {
    *value = match (kind, argument) {
        (_, None | Some(LuaArgument::Nil)) => SqlValue::Null,
        (ParameterKind::Integer, Some(LuaArgument::Integer(number))) => SqlValue::Integer(*number),
        (ParameterKind::Integer, Some(LuaArgument::Number(number))) => {
            SqlValue::Integer(*number as i64)
        }
        (ParameterKind::Real, Some(LuaArgument::Integer(number))) => SqlValue::Real(*number as f64),
        (ParameterKind::Real, Some(LuaArgument::Number(number))) => SqlValue::Real(*number),
        (ParameterKind::Text, Some(LuaArgument::String(argument))) => {
            let argument = argument.to_str().map_err(|_| {
                mlua::Error::runtime("a parameter is not UTF-8; only text can be sent")
            })?;
            if let SqlValue::Text(text) = value {
                text.clear();
                text.push_str(&argument);
                return Ok(());
            }
            SqlValue::Text((*argument).to_owned())
        }
        (_, Some(LuaArgument::String(digits))) => from_digits(kind, &digits.to_string_lossy()),
        (_, Some(other)) => {
            let kind = other.type_name();
            return Err(mlua::Error::runtime(format!("a parameter cannot be a {kind}")));
        }
    };
    Ok(())
}

/// A 64-bit number that Lua's own numbers cannot hold.
fn from_digits(kind: ParameterKind, digits: &str) -> SqlValue {
    if kind == ParameterKind::Real {
        return digits.parse().map_or(SqlValue::Null, SqlValue::Real);
    }
    let unsigned = || digits.parse::<u64>().map(u64::cast_signed);
    digits.parse().or_else(|_| unsigned()).map_or(SqlValue::Null, SqlValue::Integer)
}
