//! What expressions come to. Nothing is allocated on the way but error messages.

use super::expression::Expression;
use super::function::{ExpressionFunction, MAX_ARGUMENTS};
use super::random::{self, MIN_GAUSSIAN_PARAMETER, PgbenchRandom, ZIPFIAN};
use super::value::{FixedDecimal, ScriptValue};
use super::variables::ClientVariables;

/// What an expression can reach.
pub(super) struct EvaluationScope<'a> {
    /// The client's variables.
    pub variables: &'a mut ClientVariables,
    /// The client's random numbers.
    pub prng: &'a mut PgbenchRandom,
    /// Called with what `debug()` is given.
    pub debug: &'a mut dyn FnMut(ScriptValue),
}

impl EvaluationScope<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// In pgbench's words: an overflow, a division by zero, a variable that is not set, a value of
    /// the wrong type, a parameter out of its range.
    pub(super) fn value(&mut self, expression: &Expression) -> Result<ScriptValue, String> {
        match expression {
            Expression::Constant(value) => Ok(*value),
            Expression::Variable(slot) => self.variables.value(*slot),
            Expression::Call(ExpressionFunction::And, sides) => self.either(sides, false),
            Expression::Call(ExpressionFunction::Or, sides) => self.either(sides, true),
            Expression::Call(ExpressionFunction::Case, parts) => self.case(parts),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// AND and OR: the right side counts unless the left one decides, which `decisive` does. A NULL
    /// on the left decides too, unlike in SQL.
    fn either(&mut self, sides: &[Expression], decisive: bool) -> Result<ScriptValue, String> {
        let left = self.value(&sides[0])?;
        if left == ScriptValue::Null || left.as_bool()? == decisive {
            return Ok(left);
        }
        match self.value(&sides[1])? {
            ScriptValue::Null => Ok(ScriptValue::Null),
            right => right.as_bool().map(ScriptValue::Bool),
        }
    }

    fn case(&mut self, parts: &[Expression]) -> Result<ScriptValue, String> {
        let mut parts = parts.iter();
        while let Some(condition) = parts.next() {
            let Some(branch) = parts.next() else { return self.value(condition) };
            if self.value(condition)?.holds() {
                return self.value(branch);
            }
        }
        Ok(ScriptValue::Null)
    }

    fn call(
        &mut self,
        function: ExpressionFunction,
        arguments: &[Expression],
    ) -> Result<ScriptValue, String> {
        if arguments.len() > MAX_ARGUMENTS {
            return Err(format!("too many function arguments, maximum is {MAX_ARGUMENTS}"));
        }
        let mut values = [ScriptValue::Null; MAX_ARGUMENTS];
        let mut has_null = false;
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.value(argument)?;
            has_null |= *value == ScriptValue::Null;
        }
        if has_null && !matches!(function, ExpressionFunction::Is | ExpressionFunction::Debug) {
            return Ok(ScriptValue::Null);
        }
        self.apply(function, &values[..arguments.len()])
    }

    /// A function of values, none of which is NULL where it matters.
    fn apply(
        &mut self,
        function: ExpressionFunction,
        v: &[ScriptValue],
    ) -> Result<ScriptValue, String> {
        use ExpressionFunction as F;
        match function {
            F::Add | F::Subtract | F::Multiply | F::Divide | F::Modulo => {
                arithmetic(function, v[0], v[1])
            }
            F::Equal | F::NotEqual | F::LessOrEqual | F::Less => compare(function, v[0], v[1]),
            F::BitAnd | F::BitOr | F::BitXor | F::ShiftLeft | F::ShiftRight => {
                bits(function, v[0].as_int()?, v[1].as_int()?)
            }
            F::Not => Ok(ScriptValue::Bool(!v[0].as_bool()?)),
            F::Is => Ok(ScriptValue::Bool(v[0] == v[1])),
            F::Debug => {
                (self.debug)(v[0]);
                Ok(v[0])
            }
            F::Abs => absolute(v[0]),
            F::Least | F::Greatest => extreme(function, v),
            F::Int => v[0].as_int().map(ScriptValue::Int),
            F::Pi => Ok(ScriptValue::Double(std::f64::consts::PI)),
            F::Sqrt => v[0].as_double().map(|x| ScriptValue::Double(x.sqrt())),
            F::Ln => v[0].as_double().map(|x| ScriptValue::Double(x.ln())),
            F::Exp => v[0].as_double().map(|x| ScriptValue::Double(x.exp())),
            F::Double => v[0].as_double().map(ScriptValue::Double),
            F::Power => Ok(ScriptValue::Double(v[0].as_double()?.powf(v[1].as_double()?))),
            F::Random | F::RandomGaussian | F::RandomExponential | F::RandomZipfian => {
                self.random(function, v).map(ScriptValue::Int)
            }
            F::HashMurmur2 => hash(random::hash_murmur2, v),
            F::HashFnv1a => hash(random::hash_fnv1a, v),
            F::Permute => permute(v),
            F::And | F::Or | F::Case => unreachable!("evaluated without their arguments"),
        }
    }

    fn random(&mut self, function: ExpressionFunction, v: &[ScriptValue]) -> Result<i64, String> {
        use ExpressionFunction as F;
        let low = v[0].as_int()?;
        let high = v[1].as_int()?;
        if low > high {
            return Err("empty range given to random".to_owned());
        }
        if high.checked_sub(low).is_none_or(|difference| difference == i64::MAX) {
            return Err("random range is too large".to_owned());
        }
        if function == F::Random {
            return Ok(self.prng.uniform(low, high));
        }
        let parameter = v[2].as_double()?;
        let shown = FixedDecimal(parameter);
        match function {
            F::RandomGaussian if parameter >= MIN_GAUSSIAN_PARAMETER => {
                Ok(self.prng.gaussian(low, high, parameter))
            }
            F::RandomGaussian => Err(format!(
                "gaussian parameter must be at least {MIN_GAUSSIAN_PARAMETER:.6} (not {shown})"
            )),
            F::RandomZipfian if ZIPFIAN.contains(&parameter) => {
                Ok(self.prng.zipfian(low, high, parameter))
            }
            F::RandomZipfian => Err(format!(
                "zipfian parameter must be in range [{:.3}, {:.0}] (not {shown})",
                ZIPFIAN.start(),
                ZIPFIAN.end()
            )),
            _ if parameter <= 0.0 => {
                Err(format!("exponential parameter must be greater than zero (not {shown})"))
            }
            _ => Ok(self.prng.exponential(low, high, parameter)),
        }
    }
}

fn arithmetic(
    function: ExpressionFunction,
    left: ScriptValue,
    right: ScriptValue,
) -> Result<ScriptValue, String> {
    use ExpressionFunction as F;
    let has_double =
        matches!((left, right), (ScriptValue::Double(_), _) | (_, ScriptValue::Double(_)));
    if has_double && function != F::Modulo {
        let l = left.as_double()?;
        let r = right.as_double()?;
        return Ok(ScriptValue::Double(match function {
            F::Add => l + r,
            F::Subtract => l - r,
            F::Multiply => l * r,
            _ => l / r,
        }));
    }
    let l = left.as_int()?;
    let r = right.as_int()?;
    if r == 0 && matches!(function, F::Divide | F::Modulo) {
        return Err("division by zero".to_owned());
    }
    let (result, name) = match function {
        F::Add => (l.checked_add(r), "add"),
        F::Subtract => (l.checked_sub(r), "sub"),
        F::Multiply => (l.checked_mul(r), "mul"),
        F::Divide => (l.checked_div(r), "div"),
        _ => (Some(l.wrapping_rem(r)), "mod"),
    };
    result.map(ScriptValue::Int).ok_or_else(|| format!("bigint {name} out of range"))
}

fn compare(
    function: ExpressionFunction,
    left: ScriptValue,
    right: ScriptValue,
) -> Result<ScriptValue, String> {
    let ordering = match (left, right) {
        (ScriptValue::Double(_), _) | (_, ScriptValue::Double(_)) => {
            left.as_double()?.partial_cmp(&right.as_double()?)
        }
        _ => Some(left.as_int()?.cmp(&right.as_int()?)),
    };
    // NaN has no order: it differs from everything.
    Ok(ScriptValue::Bool(match function {
        ExpressionFunction::Equal => ordering.is_some_and(|o| o.is_eq()),
        ExpressionFunction::NotEqual => ordering.is_none_or(|o| o.is_ne()),
        ExpressionFunction::LessOrEqual => ordering.is_some_and(|o| o.is_le()),
        _ => ordering.is_some_and(|o| o.is_lt()),
    }))
}

/// Shifts count modulo 64, as the processor does it.
fn bits(function: ExpressionFunction, left: i64, right: i64) -> Result<ScriptValue, String> {
    Ok(ScriptValue::Int(match function {
        ExpressionFunction::BitAnd => left & right,
        ExpressionFunction::BitOr => left | right,
        ExpressionFunction::BitXor => left ^ right,
        ExpressionFunction::ShiftLeft => left.wrapping_shl(right as u32),
        _ => left.wrapping_shr(right as u32),
    }))
}

fn absolute(value: ScriptValue) -> Result<ScriptValue, String> {
    match value {
        ScriptValue::Int(value) => Ok(ScriptValue::Int(value.wrapping_abs())),
        other => other.as_double().map(|value| ScriptValue::Double(value.abs())),
    }
}

/// The least or greatest of some numbers; a double if one of them is.
fn extreme(function: ExpressionFunction, values: &[ScriptValue]) -> Result<ScriptValue, String> {
    let is_least = function == ExpressionFunction::Least;
    if values.iter().any(|value| matches!(value, ScriptValue::Double(_))) {
        let mut found = values[0].as_double()?;
        for value in &values[1..] {
            let value = value.as_double()?;
            let keeps = if is_least { found < value } else { found > value };
            found = if keeps { found } else { value };
        }
        return Ok(ScriptValue::Double(found));
    }
    let mut found = values[0].as_int()?;
    for value in &values[1..] {
        let value = value.as_int()?;
        found = if is_least { found.min(value) } else { found.max(value) };
    }
    Ok(ScriptValue::Int(found))
}

fn hash(of: fn(i64, i64) -> i64, v: &[ScriptValue]) -> Result<ScriptValue, String> {
    Ok(ScriptValue::Int(of(v[0].as_int()?, v[1].as_int()?)))
}

fn permute(v: &[ScriptValue]) -> Result<ScriptValue, String> {
    let value = v[0].as_int()?;
    let size = v[1].as_int()?;
    let seed = v[2].as_int()?;
    if size <= 0 {
        return Err("permute size parameter must be greater than zero".to_owned());
    }
    Ok(ScriptValue::Int(random::permute(value, size, seed)))
}

#[cfg(test)]
mod tests;
