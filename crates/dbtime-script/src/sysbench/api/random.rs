//! `sysbench.rand` and `math.random`.

use super::wrapped;
use crate::sysbench::desk::Desk;
use crate::sysbench::random::{Random, Shape};
use mlua::{Lua, LuaString, Result, Table};
use std::rc::Rc;

/// A distribution.
type Draw = fn(&mut Random, &Shape, u32, u32) -> u32;

pub(super) fn install(lua: &Lua, host: &Table, desk: &Rc<Desk>) -> Result<()> {
    let random = lua.create_table()?;
    let ranges: [(&str, Draw); 6] = [
        ("default", Random::default),
        ("uniform", |random, _, a, b| random.uniform(a, b)),
        ("gaussian", Random::gaussian),
        ("special", Random::special),
        ("pareto", Random::pareto),
        ("zipfian", Random::zipfian),
    ];
    for (name, draw) in ranges {
        let desk = Rc::clone(desk);
        let shape = desk.setup.shape;
        let function = lua.create_function(move |_, (a, b): (f64, f64)| {
            let random = &mut desk.slot.borrow_mut().random;
            Ok(f64::from(draw(random, &shape, wrapped(a), wrapped(b))))
        })?;
        random.set(name, function)?;
    }
    texts(lua, &random, desk)?;
    numbers(lua, host, &random, desk)?;
    host.set("random", random)
}

fn texts(lua: &Lua, random: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let string = lua.create_function(move |lua, template: LuaString| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.fill(&template.as_bytes(), &mut out);
        lua.create_string(out.as_slice())
    })?;
    random.set("string", string)?;
    let on = Rc::clone(desk);
    let varied = lua.create_function(move |lua, (shortest, longest): (f64, f64)| {
        let mut out = on.scratch.borrow_mut();
        on.slot.borrow_mut().random.varied(wrapped(shortest), wrapped(longest), &mut out);
        lua.create_string(out.as_slice())
    })?;
    random.set("varstring", varied)
}

fn numbers(lua: &Lua, host: &Table, random: &Table, desk: &Rc<Desk>) -> Result<()> {
    let on = Rc::clone(desk);
    let unique = lua.create_function(move |_, ()| Ok(f64::from(on.setup.unique.draw())))?;
    random.set("unique", unique)?;
    let on = Rc::clone(desk);
    let unit = lua.create_function(move |_, ()| Ok(on.slot.borrow_mut().random.unit()))?;
    random.set("uniform_double", unit)?;
    let on = Rc::clone(desk);
    let halves = lua.create_function(move |_, ()| {
        let bits = on.slot.borrow_mut().random.bits();
        Ok((f64::from((bits >> 32) as u32), f64::from(bits as u32)))
    })?;
    host.set("random_halves", halves)?;
    let on = Rc::clone(desk);
    let unit = lua.create_function(move |_, ()| Ok(on.slot.borrow_mut().random.math_unit()))?;
    host.set("math_unit", unit)?;
    let on = Rc::clone(desk);
    let seed = lua.create_function(move |_, seed: f64| {
        on.slot.borrow_mut().random.seed_math(seed.to_bits());
        Ok(())
    })?;
    host.set("math_seed", seed)
}
