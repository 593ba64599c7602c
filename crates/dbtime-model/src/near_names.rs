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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_named_alone_and_else_all_are() {
        let known = ["throughput", "mean"];
        assert_eq!(hint("thruput", known), ", did you mean `throughput`?");
        assert_eq!(hint("xyz", known), "; known: throughput, mean");
        assert_eq!(hint("xyz", []), "; there are none");
        assert_eq!(nearest(&"mean".repeat(40), &known), None);
    }
}
