//! `sysbench.rand` and `math.random`.

use super::wrapped;
use crate::sysbench::lua_host::LuaHost;
use crate::sysbench::random::{RandomShape, SysbenchRandom};
use mlua::{LightUserData, Lua, LuaString, Result, Table};
use std::ffi::c_void;
use std::rc::Rc;

/// A distribution.
type RandomDraw = fn(&mut SysbenchRandom, &RandomShape, u32, u32) -> u32;

/// Those of a range, by the names that scripts use.
const RANGES: [(&str, RandomDraw); 6] = [
    ("default", SysbenchRandom::default),
    ("uniform", |random, _, a, b| random.uniform(a, b)),
    ("gaussian", SysbenchRandom::gaussian),
    ("special", SysbenchRandom::special),
    ("pareto", SysbenchRandom::pareto),
    ("zipfian", SysbenchRandom::zipfian),
];

pub(super) fn install(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let random = lua.create_table()?;
    ranges(lua, host, lua_host)?;
    texts(lua, &random, lua_host)?;
    numbers(lua, host, &random, lua_host)?;
    host.set("random", random)
}

/// Gives our own Lua what it calls ranges by: the address of [`draw`], which LuaJIT calls from what
/// it has compiled, where a function of mlua would make it leave that.
fn ranges(lua: &Lua, host: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let names = RANGES.map(|(name, _)| name);
    host.set("ranges", lua.create_sequence_from(names)?)?;
    host.set("draw", LightUserData(draw as *mut c_void))?;
    host.set("lua_host", LightUserData(Rc::as_ptr(lua_host).cast_mut().cast()))
}

/// Draws from a range for the client that runs; `nth` is the place in [`RANGES`], counted from 1.
///
/// # Safety
/// `lua_host` is the address that [`ranges`] gave, and the Lua state that got it is alive: the
/// state holds a share in the host for as long.
unsafe extern "C" fn draw(a: f64, b: f64, lua_host: *const LuaHost, nth: u32) -> f64 {
    // SAFETY: see above; the host is only ever shared.
    let lua_host = unsafe { &*lua_host };
    let (Some((_, draw)), Ok(mut slot)) =
        (RANGES.get((nth as usize).wrapping_sub(1)), lua_host.slot.try_borrow_mut())
    else {
        return a;
    };
    f64::from(draw(&mut slot.random, &lua_host.setup.shape, wrapped(a), wrapped(b)))
}

fn texts(lua: &Lua, random: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let string = lua.create_function(move |lua, template: LuaString| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.fill(&template.as_bytes(), &mut out);
        lua.create_string(out.as_slice())
    })?;
    random.set("string", string)?;
    let on = Rc::clone(lua_host);
    let varied = lua.create_function(move |lua, (shortest, longest): (f64, f64)| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.varied(wrapped(shortest), wrapped(longest), &mut out);
        lua.create_string(out.as_slice())
    })?;
    random.set("varstring", varied)
}

fn numbers(lua: &Lua, host: &Table, random: &Table, lua_host: &Rc<LuaHost>) -> Result<()> {
    let on = Rc::clone(lua_host);
    let unique = lua.create_function(move |_, ()| Ok(f64::from(on.setup.unique.draw())))?;
    random.set("unique", unique)?;
    let on = Rc::clone(lua_host);
    let within = lua.create_function(move |_, (from, to): (f64, f64)| {
        Ok(on.setup.unique.draw_within(from, to).map(f64::from))
    })?;
    host.set("unique_within", within)?;
    let on = Rc::clone(lua_host);
    let unit = lua.create_function(move |_, ()| Ok(on.slot.borrow_mut().random.unit()))?;
    random.set("uniform_double", unit)?;
    let on = Rc::clone(lua_host);
    let halves = lua.create_function(move |_, ()| {
        let bits = on.slot.borrow_mut().random.bits();
        Ok((f64::from((bits >> 32) as u32), f64::from(bits as u32)))
    })?;
    host.set("random_halves", halves)?;
    let on = Rc::clone(lua_host);
    let unit = lua.create_function(move |_, ()| Ok(on.slot.borrow_mut().random.math_unit()))?;
    host.set("math_unit", unit)?;
    let on = Rc::clone(lua_host);
    let seed = lua.create_function(move |_, seed: f64| {
        on.slot.borrow_mut().random.seed_math(seed.to_bits());
        Ok(())
    })?;
    host.set("math_seed", seed)
}
