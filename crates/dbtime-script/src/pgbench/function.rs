//! The functions and operators of expressions: their names and how many arguments they take.

/// What an expression can do with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
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
pub(super) enum Arity {
    /// So many.
    Exactly(usize),
    /// One or more.
    Some,
    /// So many, or one less: the last is the variable `default_seed` then.
    Seeded(usize),
}

/// Most arguments of a call.
pub(super) const MOST_ARGUMENTS: usize = 16;

/// Functions that scripts call by name.
const NAMED: &[(&str, Arity, Function)] = &[
    ("mod", Arity::Exactly(2), Function::Modulo),
    ("abs", Arity::Exactly(1), Function::Abs),
    ("least", Arity::Some, Function::Least),
    ("greatest", Arity::Some, Function::Greatest),
    ("debug", Arity::Exactly(1), Function::Debug),
    ("pi", Arity::Exactly(0), Function::Pi),
    ("sqrt", Arity::Exactly(1), Function::Sqrt),
    ("ln", Arity::Exactly(1), Function::Ln),
    ("exp", Arity::Exactly(1), Function::Exp),
    ("int", Arity::Exactly(1), Function::Int),
    ("double", Arity::Exactly(1), Function::Double),
    ("random", Arity::Exactly(2), Function::Random),
    ("random_gaussian", Arity::Exactly(3), Function::RandomGaussian),
    ("random_exponential", Arity::Exactly(3), Function::RandomExponential),
    ("random_zipfian", Arity::Exactly(3), Function::RandomZipfian),
    ("pow", Arity::Exactly(2), Function::Power),
    ("power", Arity::Exactly(2), Function::Power),
    ("hash", Arity::Seeded(2), Function::HashMurmur2),
    ("hash_murmur2", Arity::Seeded(2), Function::HashMurmur2),
    ("hash_fnv1a", Arity::Seeded(2), Function::HashFnv1a),
    ("permute", Arity::Seeded(3), Function::Permute),
];

/// The function of a name, whatever its case, with the name as it is listed.
pub(super) fn find(name: &str) -> Option<(&'static str, Arity, Function)> {
    NAMED.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).copied()
}
