//! `sysbench.rand` and `math.random`.

use super::{HostFunctions, wrapped};
use crate::sysbench::lua_host::LuaHost;
use crate::sysbench::random::{RandomShape, SysbenchRandom};
use mlua::{LightUserData, LuaString, Result};
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

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    let random = host.lua.create_table()?;
    ranges(host)?;
    let functions = HostFunctions { lua: host.lua, lua_host: host.lua_host, table: &random };
    texts(&functions)?;
    numbers(host, &functions)?;
    host.table.set("random", &random)
}

/// Gives our own Lua what it calls ranges by: the address of [`draw`], which LuaJIT calls from what
/// it has compiled, where a function of mlua would make it leave that.
fn ranges(host: &HostFunctions<'_>) -> Result<()> {
    let names = RANGES.map(|(name, _)| name);
    host.table.set("ranges", host.lua.create_sequence_from(names)?)?;
    host.table.set("draw", LightUserData(draw as *mut c_void))?;
    host.table.set("lua_host", LightUserData(Rc::as_ptr(host.lua_host).cast_mut().cast()))
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

fn texts(random: &HostFunctions<'_>) -> Result<()> {
    random.define("string", |lua, on, template: LuaString| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.fill(&template.as_bytes(), &mut out);
        lua.create_string(out.as_slice())
    })?;
    random.define("varstring", |lua, on, (shortest, longest): (f64, f64)| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.varied(wrapped(shortest), wrapped(longest), &mut out);
        lua.create_string(out.as_slice())
    })
}

fn numbers(host: &HostFunctions<'_>, random: &HostFunctions<'_>) -> Result<()> {
    random.define("unique", |_, on, ()| Ok(f64::from(on.setup.unique.draw())))?;
    host.define("unique_within", |_, on, (from, to): (f64, f64)| {
        Ok(on.setup.unique.draw_within(from, to).map(f64::from))
    })?;
    random.define("uniform_double", |_, on, ()| Ok(on.slot.borrow_mut().random.unit()))?;
    host.define("random_halves", |_, on, ()| {
        let bits = on.slot.borrow_mut().random.bits();
        Ok((f64::from((bits >> 32) as u32), f64::from(bits as u32)))
    })?;
    host.define("math_unit", |_, on, ()| Ok(on.slot.borrow_mut().random.math_unit()))?;
    host.define("math_seed", |_, on, seed: f64| {
        on.slot.borrow_mut().random.seed_math(seed.to_bits());
        Ok(())
    })
}
