//! Statements that are prepared once and executed with values.

use super::{spoken, utf8};
use crate::sysbench::desk::{ClientState, HostCall, HostCallKind, LuaHost, PreparedQuery};
use crate::sysbench::literal;
use dbtime_load::program::Value;
use dbtime_model::SqlDialect;
use mlua::{LightUserData, Lua, LuaString, Result, Table, Value as Given, Variadic};
use std::borrow::Cow;
use std::ffi::c_void;
use std::rc::Rc;

pub(super) fn install(lua: &Lua, host: &Table, desk: &Rc<LuaHost>) -> Result<()> {
    statements(lua, host, desk)?;
    executions(lua, host, desk)
}

fn statements(lua: &Lua, host: &Table, desk: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(desk);
    let new_handle = lua.create_function(move |_, ()| {
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
    host.set("new_handle", new_handle)?;
    let on = Rc::clone(desk);
    let prepare = lua.create_function(move |_, (handle, sql): (u32, LuaString)| {
        prepare(&on, handle, &utf8(&sql)?);
        Ok(())
    })?;
    host.set("prepare", prepare)?;
    let on = Rc::clone(desk);
    let bind = lua.create_function(move |_, (handle, letters): (usize, LuaString)| {
        let kind = |letter: &u8| match letter {
            b'i' => HostCallKind::Integer,
            b'r' => HostCallKind::Real,
            _ => HostCallKind::Text,
        };
        if let Some(Some(prepared)) = on.slot.borrow_mut().prepared.get_mut(handle) {
            prepared.kinds = letters.as_bytes().iter().map(kind).collect();
        }
        Ok(())
    })?;
    host.set("bind", bind)?;
    let on = Rc::clone(desk);
    let free_handle = lua.create_function(move |_, handle: usize| {
        if let Some(prepared) = on.slot.borrow_mut().prepared.get_mut(handle) {
            *prepared = None;
        }
        Ok(())
    })?;
    host.set("free_handle", free_handle)?;
    let on = Rc::clone(desk);
    let close = lua.create_function(move |_, handle: u32| {
        let slot = &mut *on.slot.borrow_mut();
        slot.handle = handle;
        slot.ask(HostCall::Close);
        Ok(())
    })?;
    host.set("close", close)
}

/// The number of the statement is found here, so that executing it looks nothing up.
fn prepare(desk: &LuaHost, handle: u32, sql: &str) {
    let setup = &desk.setup;
    let sql = match setup.settings.driver {
        SqlDialect::Postgres if setup.prepares => Cow::Owned(literal::numbered(sql)),
        _ => spoken(desk, sql),
    };
    let id = desk.number(&sql);
    let slot = &mut *desk.slot.borrow_mut();
    slot.ask(HostCall::Prepare);
    slot.handle = handle;
    slot.text.clear();
    slot.text.push_str(&sql);
    let text = (!setup.prepares).then(|| Box::from(&*sql));
    if let Some(prepared) = slot.prepared.get_mut(handle as usize) {
        *prepared = Some(PreparedQuery { id, kinds: Box::default(), text });
    }
}

fn executions(lua: &Lua, host: &Table, desk: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(desk);
    type Few = (u32, Given, Given, Given, Given);
    let few = lua
        .create_function(move |_, (handle, a, b, c, d): Few| execute(&on, handle, &[a, b, c, d]))?;
    host.set("execute", few)?;
    let on = Rc::clone(desk);
    let many = lua.create_function(move |_, (handle, values): (u32, Variadic<Given>)| {
        execute(&on, handle, &values)
    })?;
    host.set("execute_many", many)?;
    host.set("put_numbers", LightUserData(put_numbers as *mut c_void))
}

/// Asks for a statement whose parameters are numbers, at most four. Returns 0 where it has others,
/// or is none of the server's: then it goes the long way. LuaJIT calls this from what it has
/// compiled.
///
/// # Safety
/// `desk` is the address that the Lua state was given, and that state is alive: it holds a share in
/// the desk for as long.
unsafe extern "C" fn put_numbers(
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    desk: *const LuaHost,
    handle: u32,
    count: u32,
) -> u32 {
    // SAFETY: see above; the desk is only ever shared.
    let desk = unsafe { &*desk };
    let numbers = [a, b, c, d];
    let is_put = desk.slot.try_borrow_mut().ok().zip(numbers.get(..count as usize));
    u32::from(is_put.is_some_and(|(mut slot, numbers)| put(&mut slot, handle, numbers)))
}

#[inline]
fn put(slot: &mut ClientState, handle: u32, numbers: &[f64]) -> bool {
    let ClientState { ask, values, statement, prepared, handle: own, .. } = slot;
    let Some(Some(prepared)) = prepared.get(handle as usize) else { return false };
    if prepared.text.is_some() || prepared.kinds.len() != numbers.len() {
        return false;
    }
    values.resize(numbers.len(), Value::Null);
    for ((value, kind), number) in values.iter_mut().zip(&*prepared.kinds).zip(numbers) {
        *value = match kind {
            HostCallKind::Integer => Value::Integer(*number as i64),
            HostCallKind::Real => Value::Real(*number),
            HostCallKind::Text => return false,
        };
    }
    (*ask, *own, *statement) = (HostCall::Execute, handle, Some(prepared.id));
    true
}

#[inline]
fn execute(desk: &LuaHost, handle: u32, given: &[Given]) -> Result<()> {
    let ClientState { ask, text, values, statement, prepared, handle: own, .. } =
        &mut **desk.slot.borrow_mut();
    let Some(Some(prepared)) = prepared.get(handle as usize) else {
        return Err(mlua::Error::runtime("the statement is closed"));
    };
    values.resize(prepared.kinds.len(), Value::Null);
    for (index, (value, &kind)) in values.iter_mut().zip(&*prepared.kinds).enumerate() {
        set(value, kind, given.get(index))?;
    }
    (*ask, *own, *statement) = (HostCall::Execute, handle, Some(prepared.id));
    if let Some(pattern) = &prepared.text {
        let has_escapes = desk.setup.settings.driver == SqlDialect::Mysql;
        literal::filled(pattern, values, has_escapes, text);
        *ask = HostCall::Query;
    }
    Ok(())
}

/// The value as its parameter's type has it. A text keeps its room.
#[inline]
fn set(value: &mut Value, kind: HostCallKind, given: Option<&Given>) -> Result<()> {
    *value = match (kind, given) {
        (_, None | Some(Given::Nil)) => Value::Null,
        (HostCallKind::Integer, Some(Given::Integer(number))) => Value::Integer(*number),
        (HostCallKind::Integer, Some(Given::Number(number))) => Value::Integer(*number as i64),
        (HostCallKind::Real, Some(Given::Integer(number))) => Value::Real(*number as f64),
        (HostCallKind::Real, Some(Given::Number(number))) => Value::Real(*number),
        (HostCallKind::Text, Some(Given::String(given))) => {
            let given = given.to_str().map_err(|_| {
                mlua::Error::runtime("a parameter is not UTF-8; only text can be sent")
            })?;
            if let Value::Text(text) = value {
                text.clear();
                text.push_str(&given);
                return Ok(());
            }
            Value::Text((*given).to_owned())
        }
        (_, Some(Given::String(digits))) => from_digits(kind, &digits.to_string_lossy()),
        (_, Some(other)) => {
            let kind = other.type_name();
            return Err(mlua::Error::runtime(format!("a parameter cannot be a {kind}")));
        }
    };
    Ok(())
}

/// A 64-bit number that Lua's own numbers cannot hold.
fn from_digits(kind: HostCallKind, digits: &str) -> Value {
    if kind == HostCallKind::Real {
        return digits.parse().map_or(Value::Null, Value::Real);
    }
    let unsigned = || digits.parse::<u64>().map(u64::cast_signed);
    digits.parse().or_else(|_| unsigned()).map_or(Value::Null, Value::Integer)
}
