//! Expressions: from text to a tree. What a tree comes to is worked out in [`super::evaluate`].
//!
//! Binding, the loosest first: `or`; `and`; `not`; `is`, `isnull`, `notnull`; comparisons, which do
//! not chain; `| # & << >> ~`; `+ -`; `* / %`; a sign.

use super::function::{self, Arity, Function};
use super::names::{Names, Slot};
use super::token::{Cursor, Token};
use super::value::Value;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Constant(Value),
    /// What a variable holds.
    Variable(Slot),
    /// A function or operator and its arguments.
    Call(Function, Box<[Expression]>),
}

/// Why an expression cannot be read. The cursor stands behind the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// What is wrong.
    pub message: &'static str,
    /// The word that is meant.
    pub more: Option<String>,
}

/// Tokens of an expression, and how deep it may be nested: reading and evaluating it recurses, and
/// must not run out of stack. The original has limits too, above any that a script comes to.
const MOST_PARTS: usize = 1000;
const MOST_DEPTH: usize = 200;

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
pub(super) fn parse(cursor: &mut Cursor<'_>, names: &mut Names) -> Result<Expression, Flaw> {
    let mut parser = Parser { token: Token::End, cursor, names, parts: 0, depth: 0 };
    parser.advance()?;
    let expression = parser.binary(0)?;
    if parser.token == Token::End { Ok(expression) } else { Err(syntax()) }
}

struct Parser<'p, 'a> {
    /// The next token; the cursor stands behind it.
    token: Token<'a>,
    cursor: &'p mut Cursor<'a>,
    names: &'p mut Names,
    parts: usize,
    depth: usize,
}

fn syntax() -> Flaw {
    Flaw { message: "syntax error", more: None }
}

fn call(function: Function, arguments: impl Into<Box<[Expression]>>) -> Expression {
    Expression::Call(function, arguments.into())
}

/// The function of an operator between two operands, how tightly it binds, and whether the
/// operands change places.
fn operator(token: Token<'_>) -> Option<(Function, u8, bool)> {
    use Function as F;
    Some(match token {
        Token::Keyword("or") => (F::Or, OR, false),
        Token::Keyword("and") => (F::And, AND, false),
        Token::Sign("<") => (F::Less, COMPARISON, false),
        Token::Sign("<=") => (F::LessOrEqual, COMPARISON, false),
        Token::Sign(">") => (F::Less, COMPARISON, true),
        Token::Sign(">=") => (F::LessOrEqual, COMPARISON, true),
        Token::Sign("=") => (F::Equal, COMPARISON, false),
        Token::Sign("<>") => (F::NotEqual, COMPARISON, false),
        Token::Sign("|") => (F::BitOr, BITS, false),
        Token::Sign("#") => (F::BitXor, BITS, false),
        Token::Sign("&") => (F::BitAnd, BITS, false),
        Token::Sign("<<") => (F::ShiftLeft, BITS, false),
        Token::Sign(">>") => (F::ShiftRight, BITS, false),
        Token::Sign("+") => (F::Add, SUM, false),
        Token::Sign("-") => (F::Subtract, SUM, false),
        Token::Sign("*") => (F::Multiply, PRODUCT, false),
        Token::Sign("/") => (F::Divide, PRODUCT, false),
        Token::Sign("%") => (F::Modulo, PRODUCT, false),
        _ => return None,
    })
}

impl<'a> Parser<'_, 'a> {
    /// Takes the next token.
    fn advance(&mut self) -> Result<(), Flaw> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(Flaw { message: "expression has too many parts", more: None });
        }
        self.token = self.cursor.token();
        match self.token {
            Token::Wrong(message, text) => Err(Flaw { message, more: Some(text.to_owned()) }),
            _ => Ok(()),
        }
    }

    fn expect(&mut self, token: Token<'a>) -> Result<(), Flaw> {
        if self.token == token { self.advance() } else { Err(syntax()) }
    }

    /// Operands joined by operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Expression, Flaw> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Flaw { message: "expression is nested too deeply", more: None });
        }
        let joined = self.joined(least)?;
        self.depth -= 1;
        Ok(joined)
    }

    fn joined(&mut self, least: u8) -> Result<Expression, Flaw> {
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
        matches!(self.token, Token::Keyword("is" | "isnull" | "notnull"))
    }

    /// `is [not] null|true|false`, `isnull`, `notnull`.
    fn postfix(&mut self, operand: Expression) -> Result<Expression, Flaw> {
        let token = self.token;
        self.advance()?;
        let (what, is_negated) = match token {
            Token::Keyword("isnull") => (Value::Null, false),
            Token::Keyword("notnull") => (Value::Null, true),
            _ => {
                let is_negated = self.token == Token::Keyword("not");
                if is_negated {
                    self.advance()?;
                }
                let what = constant(self.token).ok_or_else(syntax)?;
                self.advance()?;
                (what, is_negated)
            }
        };
        let is = call(Function::Is, [operand, Expression::Constant(what)]);
        Ok(if is_negated { call(Function::Not, [is]) } else { is })
    }

    /// An operand with what stands before it.
    fn prefixed(&mut self) -> Result<Expression, Flaw> {
        let of_int = |value| Expression::Constant(Value::Int(value));
        match self.token {
            Token::Sign("+") => {
                self.advance()?;
                self.binary(SIGN)
            }
            Token::Sign("-") => {
                self.advance()?;
                if self.token == Token::OneTooMany {
                    self.advance()?;
                    return Ok(of_int(i64::MIN));
                }
                Ok(call(Function::Subtract, [of_int(0), self.binary(SIGN)?]))
            }
            Token::Sign("~") => {
                self.advance()?;
                Ok(call(Function::BitXor, [of_int(-1), self.binary(BITS + 1)?]))
            }
            Token::Keyword("not") => {
                self.advance()?;
                Ok(call(Function::Not, [self.binary(NOT)?]))
            }
            _ => self.operand(),
        }
    }

    fn operand(&mut self) -> Result<Expression, Flaw> {
        let token = self.token;
        if let Some(value) = constant(token) {
            self.advance()?;
            return Ok(Expression::Constant(value));
        }
        match token {
            Token::Int(value) => self.constant(Value::Int(value)),
            Token::Double(value) => self.constant(Value::Double(value)),
            Token::Variable(name) => {
                self.advance()?;
                Ok(Expression::Variable(self.names.slot(name)))
            }
            Token::Sign("(") => {
                self.advance()?;
                let inner = self.binary(0)?;
                self.expect(Token::Sign(")"))?;
                Ok(inner)
            }
            Token::Name(name) => self.call(name),
            Token::Keyword("case") => self.case(),
            _ => Err(syntax()),
        }
    }

    fn constant(&mut self, value: Value) -> Result<Expression, Flaw> {
        self.advance()?;
        Ok(Expression::Constant(value))
    }

    /// `name(arguments)`.
    fn call(&mut self, name: &str) -> Result<Expression, Flaw> {
        let unknown = || Flaw { message: "unexpected function name", more: Some(name.to_owned()) };
        let (name, arity, function) = function::find(name).ok_or_else(unknown)?;
        self.advance()?;
        self.expect(Token::Sign("("))?;
        let mut arguments = Vec::new();
        if !matches!(self.token, Token::Sign(")" | ",")) {
            arguments.push(self.binary(0)?);
        }
        while self.token == Token::Sign(",") {
            self.advance()?;
            arguments.push(self.binary(0)?);
        }
        if self.token != Token::Sign(")") {
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
        arity: Arity,
        arguments: &mut Vec<Expression>,
    ) -> Result<(), Flaw> {
        let count = arguments.len();
        let message = match arity {
            Arity::Some if count == 0 => "at least one argument expected",
            Arity::Exactly(wanted) if count != wanted => "unexpected number of arguments",
            Arity::Seeded(wanted) if count + 1 == wanted => {
                arguments.push(Expression::Variable(self.names.slot("default_seed")));
                return Ok(());
            }
            Arity::Seeded(wanted) if count != wanted => "unexpected number of arguments",
            _ => return Ok(()),
        };
        Err(Flaw { message, more: Some(name.to_owned()) })
    }

    /// `case when … then … [when …] [else …] end`: conditions and branches in turn, then the rest.
    fn case(&mut self) -> Result<Expression, Flaw> {
        self.advance()?;
        let mut parts = Vec::new();
        while self.token == Token::Keyword("when") {
            self.advance()?;
            parts.push(self.binary(0)?);
            self.expect(Token::Keyword("then"))?;
            parts.push(self.binary(0)?);
        }
        if parts.is_empty() {
            return Err(syntax());
        }
        if self.token == Token::Keyword("else") {
            self.advance()?;
            parts.push(self.binary(0)?);
        } else {
            parts.push(Expression::Constant(Value::Null));
        }
        self.expect(Token::Keyword("end"))?;
        Ok(call(Function::Case, parts))
    }
}

/// The constants that have names.
fn constant(token: Token<'_>) -> Option<Value> {
    match token {
        Token::Keyword("null") => Some(Value::Null),
        Token::Keyword("true") => Some(Value::Bool(true)),
        Token::Keyword("false") => Some(Value::Bool(false)),
        _ => None,
    }
}
