//! The functions and operators of expressions: their names and how many arguments they take.

/// What an expression can do with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionFunction {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    LessOrEqual,
    Less,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Not,
    Is,
    Case,
    Abs,
    Least,
    Greatest,
    Debug,
    Pi,
    Sqrt,
    Ln,
    Exp,
    Int,
    Double,
    Random,
    RandomGaussian,
    RandomExponential,
    RandomZipfian,
    Power,
    HashMurmur2,
    HashFnv1a,
    Permute,
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionArity {
    /// So many.
    Exactly(usize),
    /// One or more.
    Some,
    /// So many, or one less: the last is the variable `default_seed` then.
    Seeded(usize),
}

/// Most arguments of a call.
pub(super) const MAX_ARGUMENTS: usize = 16;

/// Functions that scripts call by name.
const NAMED: &[(&str, FunctionArity, ExpressionFunction)] = &[
    ("mod", FunctionArity::Exactly(2), ExpressionFunction::Modulo),
    ("abs", FunctionArity::Exactly(1), ExpressionFunction::Abs),
    ("least", FunctionArity::Some, ExpressionFunction::Least),
    ("greatest", FunctionArity::Some, ExpressionFunction::Greatest),
    ("debug", FunctionArity::Exactly(1), ExpressionFunction::Debug),
    ("pi", FunctionArity::Exactly(0), ExpressionFunction::Pi),
    ("sqrt", FunctionArity::Exactly(1), ExpressionFunction::Sqrt),
    ("ln", FunctionArity::Exactly(1), ExpressionFunction::Ln),
    ("exp", FunctionArity::Exactly(1), ExpressionFunction::Exp),
    ("int", FunctionArity::Exactly(1), ExpressionFunction::Int),
    ("double", FunctionArity::Exactly(1), ExpressionFunction::Double),
    ("random", FunctionArity::Exactly(2), ExpressionFunction::Random),
    ("random_gaussian", FunctionArity::Exactly(3), ExpressionFunction::RandomGaussian),
    ("random_exponential", FunctionArity::Exactly(3), ExpressionFunction::RandomExponential),
    ("random_zipfian", FunctionArity::Exactly(3), ExpressionFunction::RandomZipfian),
    ("pow", FunctionArity::Exactly(2), ExpressionFunction::Power),
    ("power", FunctionArity::Exactly(2), ExpressionFunction::Power),
    ("hash", FunctionArity::Seeded(2), ExpressionFunction::HashMurmur2),
    ("hash_murmur2", FunctionArity::Seeded(2), ExpressionFunction::HashMurmur2),
    ("hash_fnv1a", FunctionArity::Seeded(2), ExpressionFunction::HashFnv1a),
    ("permute", FunctionArity::Seeded(3), ExpressionFunction::Permute),
];

/// The function of a name, whatever its case, with the name as it is listed.
pub(super) fn find(name: &str) -> Option<(&'static str, FunctionArity, ExpressionFunction)> {
    NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).copied()
}
