//! Expressions: from text to a tree. What a tree comes to is worked out in [`super::evaluate`].
//!
//! Binding, the loosest first: `or`; `and`; `not`; `is`, `isnull`, `notnull`; comparisons, which do
//! not chain; `| # & << >> ~`; `+ -`; `* / %`; a sign.

use super::function::{self, ExpressionFunction, FunctionArity};
use super::names::{NameSlot, NameTable};
use super::token::{ExpressionToken, ScriptCursor};
use super::value::ScriptValue;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Constant(ScriptValue),
    /// What a variable holds.
    Variable(NameSlot),
    /// A function or operator and its arguments.
    Call(ExpressionFunction, Box<[Expression]>),
}

/// Why an expression cannot be read. The cursor stands behind the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpressionError {
    /// What is wrong.
    pub message: &'static str,
    /// The word that is meant.
    pub more: Option<String>,
}

/// Tokens of an expression, and how deep it may be nested: reading and evaluating it recurses, and
/// must not run out of stack. The original has limits too, above any that a script comes to.
const MAX_EXPRESSION_PARTS: usize = 1000;
const MAX_EXPRESSION_DEPTH: usize = 200;

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARISON: u8 = 5;
const BITS: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

/// Reads an expression up to the end of its line, and passes that.
///
/// # Errors
/// What is wrong; `cursor` stands behind the token that is.
pub(super) fn parse(
    cursor: &mut ScriptCursor<'_>,
    names: &mut NameTable,
) -> Result<Expression, ExpressionError> {
    let mut parser =
        ExpressionParser { token: ExpressionToken::End, cursor, names, parts: 0, depth: 0 };
    parser.advance()?;
    let expression = parser.binary(0)?;
    if parser.token == ExpressionToken::End { Ok(expression) } else { Err(syntax()) }
}

struct ExpressionParser<'p, 'a> {
    /// The next token; the cursor stands behind it.
    token: ExpressionToken<'a>,
    cursor: &'p mut ScriptCursor<'a>,
    names: &'p mut NameTable,
    parts: usize,
    depth: usize,
}

fn syntax() -> ExpressionError {
    ExpressionError { message: "syntax error", more: None }
}

fn call(function: ExpressionFunction, arguments: impl Into<Box<[Expression]>>) -> Expression {
    Expression::Call(function, arguments.into())
}

/// The function of an operator between two operands, how tightly it binds, and whether the
/// operands change places.
fn operator(token: ExpressionToken<'_>) -> Option<(ExpressionFunction, u8, bool)> {
    use ExpressionFunction as F;
    Some(match token {
        ExpressionToken::Keyword("or") => (F::Or, OR, false),
        ExpressionToken::Keyword("and") => (F::And, AND, false),
        ExpressionToken::Sign("<") => (F::Less, COMPARISON, false),
        ExpressionToken::Sign("<=") => (F::LessOrEqual, COMPARISON, false),
        ExpressionToken::Sign(">") => (F::Less, COMPARISON, true),
        ExpressionToken::Sign(">=") => (F::LessOrEqual, COMPARISON, true),
        ExpressionToken::Sign("=") => (F::Equal, COMPARISON, false),
        ExpressionToken::Sign("<>") => (F::NotEqual, COMPARISON, false),
        ExpressionToken::Sign("|") => (F::BitOr, BITS, false),
        ExpressionToken::Sign("#") => (F::BitXor, BITS, false),
        ExpressionToken::Sign("&") => (F::BitAnd, BITS, false),
        ExpressionToken::Sign("<<") => (F::ShiftLeft, BITS, false),
        ExpressionToken::Sign(">>") => (F::ShiftRight, BITS, false),
        ExpressionToken::Sign("+") => (F::Add, SUM, false),
        ExpressionToken::Sign("-") => (F::Subtract, SUM, false),
        ExpressionToken::Sign("*") => (F::Multiply, PRODUCT, false),
        ExpressionToken::Sign("/") => (F::Divide, PRODUCT, false),
        ExpressionToken::Sign("%") => (F::Modulo, PRODUCT, false),
        _ => return None,
    })
}

impl<'a> ExpressionParser<'_, 'a> {
    /// Takes the next token.
    fn advance(&mut self) -> Result<(), ExpressionError> {
        self.parts += 1;
        if self.parts > MAX_EXPRESSION_PARTS {
            return Err(ExpressionError { message: "expression has too many parts", more: None });
        }
        self.token = self.cursor.token();
        match self.token {
            ExpressionToken::Wrong(message, text) => {
                Err(ExpressionError { message, more: Some(text.to_owned()) })
            }
            _ => Ok(()),
        }
    }

    fn expect(&mut self, token: ExpressionToken<'a>) -> Result<(), ExpressionError> {
        if self.token == token { self.advance() } else { Err(syntax()) }
    }

    /// Operands joined by operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Expression, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_EXPRESSION_DEPTH {
            return Err(ExpressionError { message: "expression is nested too deeply", more: None });
        }
        let joined = self.joined(least)?;
        self.depth -= 1;
        Ok(joined)
    }

    fn joined(&mut self, least: u8) -> Result<Expression, ExpressionError> {
        let mut left = self.prefixed()?;
        let mut is_comparison = false;
        loop {
            if least <= IS && self.is_postfix() {
                left = self.postfix(left)?;
                is_comparison = false;
                continue;
            }
            let Some((function, binding, is_swapped)) = operator(self.token) else {
                return Ok(left);
            };
            if binding < least {
                return Ok(left);
            }
            if is_comparison && binding == COMPARISON {
                return Err(syntax());
            }
            self.advance()?;
            let right = self.binary(binding + 1)?;
            let operands = if is_swapped { [right, left] } else { [left, right] };
            left = call(function, operands);
            is_comparison = binding == COMPARISON;
        }
    }

    fn is_postfix(&self) -> bool {
        matches!(self.token, ExpressionToken::Keyword("is" | "isnull" | "notnull"))
    }

    /// `is [not] null|true|false`, `isnull`, `notnull`.
    fn postfix(&mut self, operand: Expression) -> Result<Expression, ExpressionError> {
        let token = self.token;
        self.advance()?;
        let (what, is_negated) = match token {
            ExpressionToken::Keyword("isnull") => (ScriptValue::Null, false),
            ExpressionToken::Keyword("notnull") => (ScriptValue::Null, true),
            _ => {
                let is_negated = self.token == ExpressionToken::Keyword("not");
                if is_negated {
                    self.advance()?;
                }
                let what = constant(self.token).ok_or_else(syntax)?;
                self.advance()?;
                (what, is_negated)
            }
        };
        let is = call(ExpressionFunction::Is, [operand, Expression::Constant(what)]);
        Ok(if is_negated { call(ExpressionFunction::Not, [is]) } else { is })
    }

    /// An operand with what stands before it.
    fn prefixed(&mut self) -> Result<Expression, ExpressionError> {
        let of_int = |value| Expression::Constant(ScriptValue::Int(value));
        match self.token {
            ExpressionToken::Sign("+") => {
                self.advance()?;
                self.binary(SIGN)
            }
            ExpressionToken::Sign("-") => {
                self.advance()?;
                if self.token == ExpressionToken::OneTooMany {
                    self.advance()?;
                    return Ok(of_int(i64::MIN));
                }
                Ok(call(ExpressionFunction::Subtract, [of_int(0), self.binary(SIGN)?]))
            }
            ExpressionToken::Sign("~") => {
                self.advance()?;
                Ok(call(ExpressionFunction::BitXor, [of_int(-1), self.binary(BITS + 1)?]))
            }
            ExpressionToken::Keyword("not") => {
                self.advance()?;
                Ok(call(ExpressionFunction::Not, [self.binary(NOT)?]))
            }
            _ => self.operand(),
        }
    }

    fn operand(&mut self) -> Result<Expression, ExpressionError> {
        match self.token {
            ExpressionToken::Int(value) => self.constant(ScriptValue::Int(value)),
            ExpressionToken::Double(value) => self.constant(ScriptValue::Double(value)),
            ExpressionToken::Variable(name) => {
                self.advance()?;
                Ok(Expression::Variable(self.names.slot(name)))
            }
            ExpressionToken::Sign("(") => {
                self.advance()?;
                let inner = self.binary(0)?;
                self.expect(ExpressionToken::Sign(")"))?;
                Ok(inner)
            }
            ExpressionToken::Name(name) => self.call(name),
            ExpressionToken::Keyword("case") => self.case(),
            token => self.constant(constant(token).ok_or_else(syntax)?),
        }
    }

    fn constant(&mut self, value: ScriptValue) -> Result<Expression, ExpressionError> {
        self.advance()?;
        Ok(Expression::Constant(value))
    }

    /// `name(arguments)`.
    fn call(&mut self, name: &str) -> Result<Expression, ExpressionError> {
        let unknown =
            || ExpressionError { message: "unexpected function name", more: Some(name.to_owned()) };
        let (name, arity, function) = function::find(name).ok_or_else(unknown)?;
        self.advance()?;
        self.expect(ExpressionToken::Sign("("))?;
        let mut arguments = Vec::new();
        if !matches!(self.token, ExpressionToken::Sign(")" | ",")) {
            arguments.push(self.binary(0)?);
        }
        while self.token == ExpressionToken::Sign(",") {
            self.advance()?;
            arguments.push(self.binary(0)?);
        }
        if self.token != ExpressionToken::Sign(")") {
            return Err(syntax());
        }
        // The place of a wrong count is the closing bracket: it is checked before going on.
        self.check(name, arity, &mut arguments)?;
        self.advance()?;
        Ok(call(function, arguments))
    }

    fn check(
        &mut self,
        name: &str,
        arity: FunctionArity,
        arguments: &mut Vec<Expression>,
    ) -> Result<(), ExpressionError> {
        let count = arguments.len();
        let message = match arity {
            FunctionArity::Some if count == 0 => "at least one argument expected",
            FunctionArity::Exactly(expected) if count != expected => {
                "unexpected number of arguments"
            }
            FunctionArity::Seeded(expected) if count + 1 == expected => {
                arguments.push(Expression::Variable(self.names.slot("default_seed")));
                return Ok(());
            }
            FunctionArity::Seeded(expected) if count != expected => {
                "unexpected number of arguments"
            }
            _ => return Ok(()),
        };
        Err(ExpressionError { message, more: Some(name.to_owned()) })
    }

    /// `case when … then … [when …] [else …] end`: conditions and branches in turn, then the rest.
    fn case(&mut self) -> Result<Expression, ExpressionError> {
        self.advance()?;
        let mut parts = Vec::new();
        while self.token == ExpressionToken::Keyword("when") {
            self.advance()?;
            parts.push(self.binary(0)?);
            self.expect(ExpressionToken::Keyword("then"))?;
            parts.push(self.binary(0)?);
        }
        if parts.is_empty() {
            return Err(syntax());
        }
        if self.token == ExpressionToken::Keyword("else") {
            self.advance()?;
            parts.push(self.binary(0)?);
        } else {
            parts.push(Expression::Constant(ScriptValue::Null));
        }
        self.expect(ExpressionToken::Keyword("end"))?;
        Ok(call(ExpressionFunction::Case, parts))
    }
}

/// The constants that have names.
fn constant(token: ExpressionToken<'_>) -> Option<ScriptValue> {
    match token {
        ExpressionToken::Keyword("null") => Some(ScriptValue::Null),
        ExpressionToken::Keyword("true") => Some(ScriptValue::Bool(true)),
        ExpressionToken::Keyword("false") => Some(ScriptValue::Bool(false)),
        _ => None,
    }
}
