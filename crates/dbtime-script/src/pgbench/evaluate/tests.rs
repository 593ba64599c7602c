//! Expressions and what pgbench 15 made of them, with `--random-seed=5`.

use super::*;
use crate::pgbench::expression;
use crate::pgbench::names::NameTable;
use crate::pgbench::token::ScriptCursor;
use std::sync::Arc;

/// `expression => value`, one a line: read off the statements that pgbench 15.18 sent.
const OBSERVED: &str = include_str!("../testdata/expressions.txt");

fn evaluate(text: &str) -> Result<String, String> {
    let mut names = NameTable::default();
    let mut cursor = ScriptCursor { text, at: 0 };
    let expression = expression::parse(&mut cursor, &mut names)
        .map_err(|flaw| format!("{}{}", flaw.message, flaw.more.unwrap_or_default()))?;
    let given = [
        ("scale", 1),
        ("client_id", 0),
        ("random_seed", 5),
        ("default_seed", -1_240_385_398_947_155_067),
    ];
    let slots = given.map(|(name, value)| (names.slot(name), value));
    let mut variables = ClientVariables::new(Arc::new(names));
    for (slot, value) in slots {
        variables.set("startup", slot, ScriptValue::Int(value))?;
    }
    let mut prng = PgbenchRandom::new(1);
    let scope =
        &mut EvaluationScope { variables: &mut variables, prng: &mut prng, debug: &mut |_| {} };
    let mut out = String::new();
    scope.value(&expression)?.write(&mut out);
    Ok(out)
}

#[test]
fn expressions_come_to_what_pgbench_makes_of_them() {
    for line in OBSERVED.lines() {
        let (text, expected) = line.split_once(" => ").expect("a line of two parts");
        let found = evaluate(text).unwrap_or_else(|error| format!("error: {error}"));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn errors_are_told_in_the_words_of_pgbench() {
    let cases = [
        ("1/0", "division by zero"),
        ("1%0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        ("-9223372036854775807 - 2", "bigint sub out of range"),
        ("9223372036854775807 * 2", "bigint mul out of range"),
        ("-9223372036854775808 / -1", "bigint div out of range"),
        ("1 and true", "cannot coerce int to boolean"),
        ("true or 1 and 2", ""),
        ("true + 1", "cannot coerce boolean to int"),
        ("true + 1.0", "cannot coerce boolean to double"),
        ("sqrt(true)", "cannot coerce boolean to double"),
        (":nope", "undefined variable \"nope\""),
        ("random(2, 1)", "empty range given to random"),
        ("random(-1, 9223372036854775807)", "random range is too large"),
        ("random(0, 9223372036854775807)", "random range is too large"),
        (
            "random_gaussian(1, 2, 1.5)",
            "gaussian parameter must be at least 2.000000 (not 1.500000)",
        ),
        (
            "random_zipfian(1, 2, 1)",
            "zipfian parameter must be in range [1.001, 1000] (not 1.000000)",
        ),
        (
            "random_exponential(1, 2, 0)",
            "exponential parameter must be greater than zero (not 0.000000)",
        ),
        ("permute(1, 0)", "permute size parameter must be greater than zero"),
        (
            "least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",
            "too many function arguments, maximum is 16",
        ),
        ("int(1e19)", "double to int overflow for 10000000000000000000.000000"),
    ];
    for (text, expected) in cases {
        let error = evaluate(text).err().unwrap_or_default();
        assert_eq!(error, expected, "{text}");
    }
}

#[test]
fn syntax_errors_are_found() {
    for text in [
        "",
        "1 +",
        "(1",
        "1)",
        "1 2",
        "1 < 2 < 3",
        "case end",
        "case when 1 then 2",
        "abs",
        "1 is",
        "1 is not",
        "1 is 2",
        "9223372036854775808",
        "abs(1,)",
        "end",
    ] {
        assert_eq!(evaluate(text).unwrap_err(), "syntax error", "{text}");
    }
    assert_eq!(evaluate("foo(1)").unwrap_err(), "unexpected function namefoo");
    for text in ["pi(1)", "hash()", "permute(1)", "random(1)", "pow(1)"] {
        let error = evaluate(text).unwrap_err();
        assert!(error.starts_with("unexpected number of arguments"), "{text}: {error}");
    }
    let long = format!("1{}", " + 1".repeat(600));
    assert_eq!(evaluate(&long).unwrap_err(), "expression has too many parts");
    for part in ["(", "-", "not ", "~", "abs(", "case when ", "1 + (", "1 < (", "1 or ("] {
        let error = evaluate(&part.repeat(1000)).unwrap_err();
        assert_eq!(error, "expression is nested too deeply", "{part}");
    }
    let deepest = format!("{}1{}", "abs(".repeat(199), ")".repeat(199));
    assert_eq!(evaluate(&deepest), Ok("1".to_owned()), "the stack is deep enough for any of them");
    assert_eq!(evaluate(&format!("1{}", " + 1".repeat(490))), Ok("491".to_owned()));
}

#[test]
fn debug_is_told_what_it_was_given() {
    let mut cursor = ScriptCursor { text: "debug(null) is null and debug(1.5) > 1", at: 0 };
    let mut names = NameTable::default();
    let expression = expression::parse(&mut cursor, &mut names).expect("an expression");
    let mut variables = ClientVariables::new(Arc::new(names));
    let (mut prng, mut told) = (PgbenchRandom::new(1), Vec::new());
    let mut debug = |value| told.push(value);
    let scope =
        &mut EvaluationScope { variables: &mut variables, prng: &mut prng, debug: &mut debug };
    assert_eq!(scope.value(&expression), Ok(ScriptValue::Bool(true)));
    assert_eq!(told, [ScriptValue::Null, ScriptValue::Double(1.5)]);
}
