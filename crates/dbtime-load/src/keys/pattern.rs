//! Random texts after a pattern: `#` becomes a digit, `@` a letter from a to z, the rest stays.

use crate::random::RandomSource;

/// A pattern, cut into runs so that constant parts are copied whole.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    runs: Vec<PatternRun>,
    /// Bytes of every text it makes.
    pub(crate) length: usize,
}

#[derive(Clone, Debug)]
enum PatternRun {
    Text(String),
    Digits(usize),
    Letters(usize),
}

impl TextPattern {
    /// The longest pattern, in bytes.
    pub(crate) const LENGTH_MAX: usize = 65_535;

    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Self {
        let mut runs = Vec::new();
        for c in text.chars() {
            match (c, runs.last_mut()) {
                ('#', Some(PatternRun::Digits(count)))
                | ('@', Some(PatternRun::Letters(count))) => *count += 1,
                ('#', _) => runs.push(PatternRun::Digits(1)),
                ('@', _) => runs.push(PatternRun::Letters(1)),
                (c, Some(PatternRun::Text(text))) => text.push(c),
                (c, _) => runs.push(PatternRun::Text(c.to_string())),
            }
        }
        Self { runs, length: text.len() }
    }

    /// Replaces `out` by a new text. Draws: one of 64 bits per eight random characters of a run.
    pub(crate) fn write(&self, random: &mut RandomSource, out: &mut String) {
        out.clear();
        out.reserve(self.length);
        for run in &self.runs {
            match run {
                PatternRun::Text(text) => out.push_str(text),
                PatternRun::Digits(count) => symbols(*count, 10, b'0', random, out),
                PatternRun::Letters(count) => symbols(*count, 26, b'a', random, out),
            }
        }
    }
}

/// `count` symbols of an alphabet. Each takes the integer part of a 64-bit fraction times the size
/// of the alphabet and leaves the rest for the next; after eight of 26 the bias is 2⁻²⁶.
fn symbols(count: usize, alphabet: u128, first: u8, random: &mut RandomSource, out: &mut String) {
    let mut left = count;
    while left > 0 {
        let mut fraction = random.bits();
        for _ in 0..left.min(8) {
            let product = u128::from(fraction) * alphabet;
            out.push((first + (product >> 64) as u8) as char);
            fraction = product as u64;
        }
        left -= left.min(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStream;

    #[test]
    fn patterns_keep_their_shape() {
        let mut out = String::new();
        let mut random = RandomSource::new(1, RandomStream::Data, 0);
        TextPattern::new("###-@@@@@@@@@@ é#").write(&mut random, &mut out);
        let shape: String = out
            .chars()
            .map(|c| match c {
                '0'..='9' => '#',
                'a'..='z' => '@',
                c => c,
            })
            .collect();
        assert_eq!(shape, "###-@@@@@@@@@@ é#");
    }

    #[test]
    fn digits_are_uniform() {
        // 11 positions × 9 degrees of freedom = 99: 99.9 % lie below 148.23.
        let pattern = TextPattern::new("###########");
        let mut counts = [[0f64; 10]; 11];
        let mut out = String::new();
        for index in 0..10_000 {
            pattern.write(&mut RandomSource::new(5, RandomStream::Data, index), &mut out);
            out.bytes().enumerate().for_each(|(at, b)| counts[at][(b - b'0') as usize] += 1.0);
        }
        let chi2: f64 = counts.iter().flatten().map(|c| (c - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 148.23, "chi² {chi2}");
    }
}
