//! What is wrong with many files: the first are named, the rest are counted.

/// How many are named.
const MOST_NAMED: usize = 20;

/// Problems, in words.
#[derive(Debug, Default)]
pub(super) struct ProblemList {
    named: Vec<String>,
    further: usize,
}

impl ProblemList {
    pub(super) fn add(&mut self, problem: String) {
        match self.named.len() < MOST_NAMED {
            true => self.named.push(problem),
            false => self.further += 1,
        }
    }

    /// The problems, and at last how many there are beside them.
    pub(super) fn into_texts(self) -> Vec<String> {
        let further = (self.further > 0).then(|| format!("and {} more", self.further));
        self.named.into_iter().chain(further).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_counted() {
        let texts = |count: usize| {
            let mut list = ProblemList::default();
            (0..count).for_each(|number| list.add(number.to_string()));
            list.into_texts()
        };
        assert_eq!(texts(2), ["0", "1"]);
        assert_eq!(texts(MOST_NAMED).len(), MOST_NAMED);
        assert_eq!(texts(MOST_NAMED + 7).last().map(String::as_str), Some("and 7 more"));
    }
}
