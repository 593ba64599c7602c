//! Expressions of SPDX: which licences a crate may be used under.

/// Whether a choice within an expression needs no GPL: one side of each `OR`, all of an `AND`.
pub(super) fn is_permitted(expression: &str) -> bool {
    choices(expression).any(|choice| split(choice, " AND ").into_iter().all(is_permitted_part))
}

/// The sides of the outermost `OR`.
pub(super) fn choices(expression: &str) -> impl Iterator<Item = &str> {
    split(expression, " OR ").into_iter().map(str::trim)
}

/// A licence, or an expression in brackets.
fn is_permitted_part(part: &str) -> bool {
    let part = part.trim();
    match part.strip_prefix('(').and_then(|part| part.strip_suffix(')')) {
        Some(inside) => is_permitted(inside),
        None => !part.contains("GPL"),
    }
}

/// What stands between an operator, outside of brackets.
fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, sign) in expression.char_indices() {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        if depth == 0 && expression[at..].starts_with(operator) {
            parts.push(&expression[begin..at]);
            begin = at + operator.len();
        }
    }
    parts.push(&expression[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_choice_without_a_gpl_is_enough() {
        for permitted in [
            "MIT",
            "LGPL-2.1-only OR BSD-2-Clause",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(is_permitted(permitted), "{permitted}");
        }
        for refused in ["GPL-3.0-or-later", "MIT AND LGPL-2.1", "(AGPL-3.0 OR GPL-2.0) AND MIT"] {
            assert!(!is_permitted(refused), "{refused}");
        }
        let choices: Vec<&str> = choices("(MIT OR ISC) AND Zlib OR Apache-2.0").collect();
        assert_eq!(choices, ["(MIT OR ISC) AND Zlib", "Apache-2.0"]);
    }
}
