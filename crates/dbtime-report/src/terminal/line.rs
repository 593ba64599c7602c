//! Cells of a line, written without detours: a busy server has tens of thousands of lines a second,
//! and what `format!` takes for each of their numbers would be most of what a line costs.

use crate::format::us;
use dbtime_model::Nanos;

const SPACES: &str = "                                ";

/// A line that is being written. Widths are columns; what is wider has all the room it takes.
pub(super) struct ReportLine<'a>(pub(super) &'a mut String);

impl ReportLine<'_> {
    fn spaces(&mut self, mut count: usize) {
        while count > 0 {
            let some = count.min(SPACES.len());
            self.0.push_str(&SPACES[..some]);
            count -= some;
        }
    }

    fn digits(&mut self, number: u64) {
        self.0.push_str(itoa::Buffer::new().format(number));
    }

    /// Fills the room up, of which the text from `begin` on has taken some.
    fn fill(&mut self, begin: usize, width: usize) {
        let taken = self.0[begin..].chars().count();
        self.spaces(width.saturating_sub(taken));
    }

    /// So much room before what is next.
    pub(super) fn gap(&mut self, width: usize) -> &mut Self {
        self.spaces(width);
        self
    }

    /// What is written by others, to the left.
    pub(super) fn with(&mut self, width: usize, write: impl FnOnce(&mut String)) {
        let begin = self.0.len();
        write(self.0);
        self.fill(begin, width);
    }

    /// To the right.
    pub(super) fn number(&mut self, number: u64, width: usize) {
        self.spaces(width.saturating_sub(number.checked_ilog10().unwrap_or(0) as usize + 1));
        self.digits(number);
    }

    /// A connection by the server's number of it, or by dbtime's own behind a sign; to the right.
    pub(super) fn connection(&mut self, server_id: Option<u64>, own: u64, width: usize) {
        match server_id {
            Some(id) => self.number(id, width),
            None => {
                let digits = own.checked_ilog10().unwrap_or(0) as usize + 1;
                self.spaces(width.saturating_sub(digits + 1));
                self.0.push('#');
                self.digits(own);
            }
        }
    }

    /// Seconds with six decimals, to the right.
    pub(super) fn seconds(&mut self, time: Nanos, width: usize) {
        let us = time.0.saturating_add(500) / 1000;
        self.number(us / 1_000_000, width.saturating_sub(7));
        self.fraction(us % 1_000_000, 6);
    }

    /// Three digits and a unit, to the right.
    pub(super) fn time(&mut self, time: Nanos, width: usize) {
        let Some(figure) = LineFigure::of(time) else {
            let text = us(time.as_micros());
            self.spaces(width.saturating_sub(text.chars().count()));
            return self.0.push_str(&text);
        };
        let unit = figure.unit.chars().count() + 1;
        let point = usize::from(figure.decimals > 0);
        self.number(figure.whole, width.saturating_sub(unit + point + figure.decimals as usize));
        self.unit(&figure);
    }

    /// The name of a part and its time, to the left.
    pub(super) fn wait(&mut self, wait: Option<(&str, Nanos)>, width: usize) {
        let Some((name, time)) = wait else { return self.spaces(width) };
        let begin = self.0.len();
        self.0.push_str(name);
        self.0.push(' ');
        self.time(time, 0);
        self.fill(begin, width);
    }

    fn unit(&mut self, figure: &LineFigure) {
        if figure.decimals > 0 {
            self.fraction(figure.fraction, figure.decimals);
        }
        self.0.push(' ');
        self.0.push_str(figure.unit);
    }

    fn fraction(&mut self, fraction: u64, decimals: u32) {
        self.0.push('.');
        let digits = fraction.checked_ilog10().unwrap_or(0) + 1;
        (digits..decimals).for_each(|_| self.0.push('0'));
        self.digits(fraction);
    }
}

/// A time with three digits.
struct LineFigure {
    whole: u64,
    fraction: u64,
    decimals: u32,
    unit: &'static str,
}

impl LineFigure {
    /// As [`us`] says it, but for what lies in the middle of two figures; `None` from 1000 s on.
    fn of(time: Nanos) -> Option<Self> {
        let (scale, unit) = match time.0 {
            0..1_000 => (1, "ns"),
            1_000..999_500 => (1_000, "µs"),
            999_500..999_500_000 => (1_000_000, "ms"),
            999_500_000..999_500_000_000 => (1_000_000_000, "s"),
            _ => return None,
        };
        let decimals = match time.0 * 1000 / scale {
            _ if scale == 1 => 0,
            0..9_995 => 2,
            9_995..99_950 => 1,
            _ => 0,
        };
        let (parts, step) = (10u64.pow(decimals), scale / 10u64.pow(decimals));
        let rounded = (time.0 + step / 2) / step;
        Some(Self { whole: rounded / parts, fraction: rounded % parts, decimals, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(write: impl FnOnce(&mut ReportLine<'_>)) -> String {
        let mut text = String::new();
        write(&mut ReportLine(&mut text));
        text
    }

    #[test]
    fn cells_keep_to_their_room_or_take_what_they_need() {
        assert_eq!(line(|line| line.number(0, 3)), "  0");
        assert_eq!(line(|line| line.number(12_345, 3)), "12345");
        assert_eq!(line(|line| line.with(3, |out| out.push('é'))), "é  ");
        assert_eq!(line(|line| line.gap(40).number(7, 0)).len(), 41);
        assert_eq!(line(|line| line.seconds(Nanos(1_010_071_499), 10)), "  1.010071");
        assert_eq!(line(|line| line.seconds(Nanos(1_500), 10)), "  0.000002");
        assert_eq!(line(|line| line.time(Nanos(51_000), 8)), " 51.0 µs");
        assert_eq!(line(|line| line.time(Nanos(5_005_000_000), 8)), "  5.01 s");
        assert_eq!(line(|line| line.wait(Some(("lock", Nanos(20_000))), 14)), "lock 20.0 µs  ");
        assert_eq!(line(|line| line.wait(None, 4)), "    ");
    }

    proptest! {
        #[test]
        fn a_time_is_what_it_is_elsewhere(digits in 0u32..15, of in 1u64..10_000_000) {
            let time = Nanos(of.saturating_mul(10u64.pow(digits)) / 1_000_000);
            // The middle of two figures may go either way.
            let is_middle = [1, 1_000, 1_000_000].iter().any(|unit| {
                [10, 100, 1_000].iter().any(|part| time.0 % (unit * part) == unit * part / 2)
            });
            prop_assume!(!is_middle);
            prop_assert_eq!(line(|line| line.time(time, 0)), us(time.as_micros()));
        }
    }
}
