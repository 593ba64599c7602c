//! A function's name as it is shown, and in files of collapsed stacks.

/// A name without its parameters, and without what would end a frame in a file of collapsed stacks.
pub(super) fn function_name(name: &str) -> String {
    without_parameters(name)
        .chars()
        .map(|sign| match sign {
            ';' => ':',
            sign if sign.is_control() => '?',
            sign => sign,
        })
        .collect()
}

fn without_parameters(name: &str) -> &str {
    let without_clone = name.split(" [clone").next().unwrap_or(name);
    let callable = without_clone.trim_end_matches(" const");
    if !callable.ends_with(')') {
        return without_clone;
    }
    let mut depth = 0;
    let begin = callable.char_indices().rev().find(|(_, sign)| {
        match sign {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    match begin.map(|(at, _)| &callable[..at]) {
        Some(short) if !short.is_empty() && !short.ends_with("operator") => short,
        _ => without_clone,
    }
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn names_have_no_parameters() {
        for (name, shown) in [
            ("fsync", "fsync"),
            ("MYSQLparse(THD*)", "MYSQLparse"),
            ("Item::val(void (*)(int), char) const", "Item::val"),
            ("(anonymous namespace)::f(int) [clone .isra.0]", "(anonymous namespace)::f"),
            ("A::operator()(int) const", "A::operator()"),
            ("A::operator()", "A::operator()"),
            ("std::map<a;b>::find(a)", "std::map<a:b>::find"),
            ("(((", "((("),
            (")", ")"),
            ("", ""),
            ("a\nb", "a?b"),
        ] {
            assert_eq!(function_name(name), shown, "{name}");
        }
    }
}
