//! One generator: `{ uniform = [1, "account.rows"] }`, a formula in quotes, or a plain number.

use super::dictionary::WordDictionaries;
use crate::keys::formula::{FormulaError, KeyFormula};
use crate::keys::pattern::TextPattern;
use crate::keys::skew::Zipf;
use crate::keys::{KeyKind, KeyRange, KeySpec};
use crate::program::SqlValue;
use crate::workload::WorkloadTable;
use crate::workload::document::{DocumentNode, DocumentResult, DocumentSection};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::DeValue;

/// What every generator may refer to.
pub(super) struct KeyContext<'a> {
    pub(super) tables: &'a [WorkloadTable],
    pub(super) dictionaries: &'a WordDictionaries,
    /// Bytes that repeated constants may still take: a short file must not fill the memory.
    pub(super) bytes_left: Cell<usize>,
}

impl<'a> KeyContext<'a> {
    /// Bytes of all repeated constants together.
    const BYTES_MAX: usize = 16 << 20;

    pub(super) fn new(tables: &'a [WorkloadTable], dictionaries: &'a WordDictionaries) -> Self {
        Self { tables, dictionaries, bytes_left: Cell::new(Self::BYTES_MAX) }
    }
}

/// What one generator may refer to.
pub(super) struct KeyScope<'a> {
    pub(super) things: &'a KeyContext<'a>,
    /// Other keys, or columns, by name.
    pub(super) names: &'a BTreeMap<&'a str, u16>,
}

/// Generators and the options each has.
const GENERATORS: &[(&str, &[&str])] = &[
    ("choose", &[]),
    ("constant", &["repeat"]),
    ("dictionary", &[]),
    ("exponential", &["parameter"]),
    ("formula", &[]),
    ("gaussian", &["parameter"]),
    ("hot_spot", &["draws", "keys"]),
    ("nurand", &["a", "c"]),
    ("pattern", &[]),
    ("permutation", &[]),
    ("real", &[]),
    ("sequence", &[]),
    ("uniform", &[]),
    ("unique", &[]),
    ("zipf", &["exponent", "scramble"]),
];

/// Reads a generator. `extra` are keys of the table that the caller reads.
pub(super) fn spec(
    node: &DocumentNode<'_, '_>,
    title: &str,
    extra: &[&str],
    scope: &KeyScope<'_>,
) -> DocumentResult<KeySpec> {
    match node.value.get_ref() {
        DeValue::Integer(_) => {
            Ok(KeySpec::Constant(SqlValue::Integer(node.integer(i64::MIN..=i64::MAX)?)))
        }
        DeValue::Float(_) => Ok(KeySpec::Constant(SqlValue::Real(node.number()?))),
        DeValue::String(_) => Ok(KeySpec::KeyFormula(formula(node, scope)?)),
        DeValue::Table(_) => from_section(node, &node.section(title)?, extra, scope),
        _ => Err(node.unexpected("a number, a formula in quotes, or a table with a generator")),
    }
}

fn from_section(
    node: &DocumentNode<'_, '_>,
    section: &DocumentSection<'_, '_>,
    extra: &[&str],
    scope: &KeyScope<'_>,
) -> DocumentResult<KeySpec> {
    let here: Vec<&(&str, &[&str])> =
        GENERATORS.iter().filter(|(name, _)| section.get(name).is_some()).collect();
    let names = || GENERATORS.iter().map(|(name, _)| *name);
    match here.as_slice() {
        [(name, options)] => {
            let allowed: Vec<&str> = [*name].iter().chain(*options).chain(extra).copied().collect();
            section.allow(&allowed)?;
            let value = section.need(name, "its generator")?;
            generator(name, &value, section, scope)
        }
        [] => {
            // A misspelt generator is an unknown key; without any key at all there is no nearest.
            let allowed: Vec<&str> = names().chain(extra.iter().copied()).collect();
            section.allow(&allowed)?;
            let expected = format!("one of {}", names().collect::<Vec<_>>().join(", "));
            Err(node.refuse(format!("{} without a generator", section.title), expected))
        }
        [first, second, ..] => Err(node.refuse(
            format!("`{}` and `{}` in {}", first.0, second.0, section.title),
            "one generator",
        )),
    }
}

fn generator(
    name: &str,
    node: &DocumentNode<'_, '_>,
    section: &DocumentSection<'_, '_>,
    scope: &KeyScope<'_>,
) -> DocumentResult<KeySpec> {
    let number = |key: &str, allowed: std::ops::RangeInclusive<f64>| {
        let expected = format!("a number from {} to {}", allowed.start(), allowed.end());
        section.need(key, &expected)?.number_in(allowed)
    };
    match name {
        "constant" => constant(node, section, &scope.things.bytes_left),
        "formula" => Ok(KeySpec::KeyFormula(formula(node, scope)?)),
        "uniform" => Ok(KeySpec::Uniform(range(node, scope)?)),
        "real" => real(node),
        "zipf" => {
            let exponent = number("exponent", Zipf::EXPONENTS)?;
            let scramble = section.flag("scramble")?;
            Ok(KeySpec::Zipf { range: fixed_range(node, scope)?, exponent, scramble })
        }
        "gaussian" => {
            // Below 2 nearly every second normal would be thrown away; pgbench refuses it too.
            let parameter = number("parameter", 2.0..=1000.0)?;
            Ok(KeySpec::Gaussian { range: fixed_range(node, scope)?, parameter })
        }
        "exponential" => {
            let parameter = number("parameter", 1e-6..=700.0)?;
            Ok(KeySpec::Exponential { range: fixed_range(node, scope)?, parameter })
        }
        "nurand" => {
            let a = section.need("a", "the constant A: 255, 1023 or 8191 in TPC-C")?;
            let a = a.integer(0..=i64::MAX)?;
            let c = section.get("c").map_or(Ok(0), |c| c.integer(0..=i64::MAX))?;
            Ok(KeySpec::NuRand { range: fixed_range(node, scope)?, a, c })
        }
        "hot_spot" => {
            let draws = number("draws", 0.0..=100.0)?;
            let keys = number("keys", 0.0..=100.0)?;
            Ok(KeySpec::HotSpot { range: fixed_range(node, scope)?, draws, keys })
        }
        "sequence" => match node.value.get_ref() {
            DeValue::Array(_) => {
                let KeyRange { low, high } = fixed_range(node, scope)?;
                Ok(KeySpec::Sequence { first: low, last: Some(high) })
            }
            _ => Ok(KeySpec::Sequence { first: fixed(node, scope)?, last: None }),
        },
        "unique" => Ok(KeySpec::Unique { first: fixed(node, scope)? }),
        "permutation" => Ok(KeySpec::Permutation(fixed_range(node, scope)?)),
        "dictionary" => {
            let name = node.text()?;
            let known = scope.things.dictionaries;
            let words = known.get(name).ok_or_else(|| {
                node.unknown("dictionary", name, known.keys().map(String::as_str))
            })?;
            Ok(KeySpec::WordDictionary(Arc::clone(words)))
        }
        "pattern" => {
            let text = node.text()?;
            if text.len() > TextPattern::LENGTH_MAX {
                return Err(node.refuse(
                    format!("a pattern of {} bytes", text.len()),
                    format!("at most {} bytes", TextPattern::LENGTH_MAX),
                ));
            }
            Ok(KeySpec::TextPattern(Arc::new(TextPattern::new(text))))
        }
        _ => choose(node, scope),
    }
}

fn constant(
    node: &DocumentNode<'_, '_>,
    section: &DocumentSection<'_, '_>,
    bytes_left: &Cell<usize>,
) -> DocumentResult<KeySpec> {
    let repeat = section.get("repeat").map(|node| Ok((node, node.integer(0..=1 << 20)?)));
    let repeat = repeat.transpose()?;
    match (node.value.get_ref(), repeat) {
        (DeValue::Integer(_), None) => {
            Ok(KeySpec::Constant(SqlValue::Integer(node.integer(i64::MIN..=i64::MAX)?)))
        }
        (DeValue::Float(_), None) => Ok(KeySpec::Constant(SqlValue::Real(node.number()?))),
        (DeValue::String(text), repeat) => {
            let count = repeat.as_ref().map_or(1, |(_, count)| *count as usize);
            let bytes = text.len().saturating_mul(count);
            let Some(left) = bytes_left.get().checked_sub(bytes) else {
                return Err(node.refuse("constants of more than 16 MiB", "shorter ones"));
            };
            bytes_left.set(left);
            Ok(KeySpec::Constant(SqlValue::Text(text.repeat(count))))
        }
        (_, None) => Err(node.unexpected("a number or a text")),
        (_, Some(_)) => Err(node.unexpected("a text, for `repeat` repeats texts")),
    }
}

fn real(node: &DocumentNode<'_, '_>) -> DocumentResult<KeySpec> {
    match node.list()?.as_slice() {
        [low, high] => {
            let from = low.number()?;
            let to = high.number()?;
            if from <= to && (to - from).is_finite() {
                return Ok(KeySpec::Real(from, to));
            }
            Err(node.refuse(format!("the range {from} to {to}"), "the lower end first"))
        }
        _ => Err(node.unexpected("a list of two numbers")),
    }
}

fn choose(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeySpec> {
    let alternative = |node: DocumentNode<'_, '_>| {
        let section = node.section("an alternative")?;
        let weight = weight(&section.need("weight", "a number above 0")?)?;
        Ok((weight, spec(&node, "an alternative", &["weight"], scope)?))
    };
    let choices: Vec<(f64, KeySpec)> =
        node.list()?.into_iter().map(alternative).collect::<DocumentResult<_>>()?;
    if choices.is_empty() {
        return Err(node.unexpected("a list of at least one alternative"));
    }
    Ok(KeySpec::Choose(choices))
}

/// A weight: above zero, and not so large that sums lose the small ones.
pub(super) fn weight(node: &DocumentNode<'_, '_>) -> DocumentResult<f64> {
    let value = node.number()?;
    if value > 0.0 && value <= 1e12 {
        return Ok(value);
    }
    Err(node.unexpected("a weight above 0"))
}

/// A range whose ends may depend on other keys.
fn range(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeyRange> {
    match node.list()?.as_slice() {
        [low, high] => {
            let low_end = end(low, scope)?;
            let high_end = end(high, scope)?;
            if let (Some(from), Some(to)) = (low_end.constant(), high_end.constant())
                && from > to
            {
                let found = format!("the empty range {from} to {to}");
                return Err(node.refuse(found, "the lower end first"));
            }
            Ok(KeyRange { low: low_end, high: high_end })
        }
        _ => Err(node.unexpected("a list of two ends, such as [1, \"account.rows\"]")),
    }
}

/// A range whose ends are known once the scale is.
fn fixed_range(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeyRange> {
    let range = range(node, scope)?;
    for (formula, end) in [&range.low, &range.high].into_iter().zip(node.list()?) {
        independent(formula, &end)?;
    }
    Ok(range)
}

/// A number that is known once the scale is.
fn fixed(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeyFormula> {
    let formula = end(node, scope)?;
    independent(&formula, node)?;
    Ok(formula)
}

fn independent(formula: &KeyFormula, node: &DocumentNode<'_, '_>) -> DocumentResult<()> {
    let mut depends = false;
    formula.slots(&mut |_| depends = true);
    if depends {
        return Err(node.unexpected(
            "a formula of table sizes and `scale` only: the ends of `uniform` alone may depend on keys",
        ));
    }
    Ok(())
}

fn end(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeyFormula> {
    match node.value.get_ref() {
        DeValue::Integer(_) => Ok(KeyFormula::Number(node.integer(i64::MIN..=i64::MAX)?)),
        DeValue::String(_) => formula(node, scope),
        _ => Err(node.unexpected("an integer or a formula in quotes")),
    }
}

fn formula(node: &DocumentNode<'_, '_>, scope: &KeyScope<'_>) -> DocumentResult<KeyFormula> {
    let tables = scope.things.tables;
    let resolve = &mut |name: &str| {
        if let Some(slot) = scope.names.get(name) {
            return Some(KeyFormula::Slot(*slot));
        }
        if name == "scale" {
            return Some(KeyFormula::Scale);
        }
        let table = name.strip_suffix(".rows")?;
        let position = tables.iter().position(|t| t.name == table)?;
        Some(KeyFormula::Rows(position as u16))
    };
    KeyFormula::parse(node.text()?, resolve).map_err(|error| match error {
        FormulaError::Syntax(found, expected) => node.refuse(found, expected),
        FormulaError::UnknownName(name) => {
            let rows: Vec<String> = tables.iter().map(|t| format!("{}.rows", t.name)).collect();
            let names = scope.names.keys().copied().chain(["scale"]);
            node.unknown("name in a formula", &name, names.chain(rows.iter().map(String::as_str)))
        }
    })
}

/// Refuses formulas over anything but integers; `kind` and `name` tell of other keys.
pub(super) fn integers_only<'a>(
    node: &DocumentNode<'_, '_>,
    spec: &KeySpec,
    other: impl Fn(u16) -> (&'a str, KeyKind),
) -> DocumentResult<()> {
    for slot in spec.slots() {
        let (name, kind) = other(slot);
        if kind != KeyKind::Integer {
            let what = if kind == KeyKind::Text { "a text" } else { "not an integer" };
            return Err(node.refuse(format!("`{name}` in a formula, which is {what}"), "integers"));
        }
    }
    Ok(())
}
