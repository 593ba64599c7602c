//! What is said of an unknown name: which known one may have been meant.

/// What to say after an unknown name: the nearest known one, else the whole list.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if known.is_empty() {
        return "; there are none".to_owned();
    }
    match nearest(name, &known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None if known.len() > 30 => format!("; there are {}", known.len()),
        None => format!("; known: {}", known.join(", ")),
    }
}

/// The known name that a typist may have meant.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // Distances of long hostile names cost quadratic time.
    if name.len() > 100 {
        return None;
    }
    let scored = known.iter().map(|k| (strsim::jaro_winkler(name, k), *k));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then_some(best.1)
}

/// Whether a word is a known name but for a slip: a letter or two of a long one, or an end that was
/// left out.
pub fn is_slip(word: &str, known: &str) -> bool {
    // Distances of long hostile names cost quadratic time, and any word is near a letter.
    if word.len() > 100 || known.len() < 2 {
        return false;
    }
    let is_begun = word.len() >= 3 && known.starts_with(word);
    is_begun || strsim::damerau_levenshtein(word, known) <= (word.len() / 4).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        for word in ["conn", "conectons", "connectoins"] {
            assert!(is_slip(word, "connections"), "{word}");
        }
        assert!(is_slip("tiem", "time"));
        for (word, known) in [
            ("timeout", "time"),
            ("rand-type", "find-rate"),
            ("burst-rate", "network-rate"),
            ("verbose", "version"),
            ("stage", "target"),
            ("csv", "save"),
            ("dbname", "b"),
        ] {
            assert!(!is_slip(word, known), "{word}");
        }
    }

    #[test]
    fn a_near_name_is_named_alone_and_else_all_are() {
        let known = ["throughput", "mean"];
        assert_eq!(hint("thruput", known), ", did you mean `throughput`?");
        assert_eq!(hint("xyz", known), "; known: throughput, mean");
        assert_eq!(hint("xyz", []), "; there are none");
        assert_eq!(nearest(&"mean".repeat(40), &known), None);
    }
}
