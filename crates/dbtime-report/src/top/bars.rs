//! Parts of a time as stacked bars. Each part has a colour and a letter, so that bars can be read
//! without colours.

use dbtime_model::Nanos;
use dbtime_model::traced::RequestParts;
use ratatui::style::{Color, Style};
use ratatui::text::Span;

/// How a part is drawn: its letter, its colour, and what it is called in the legend.
struct Look {
    part: &'static str,
    letter: char,
    color: Color,
}

const LOOKS: [Look; 12] = [
    Look { part: "cpu", letter: 'C', color: Color::Green },
    Look { part: "runq_preempted", letter: 'P', color: Color::Yellow },
    Look { part: "runq_woken", letter: 'R', color: Color::LightYellow },
    Look { part: "lock", letter: 'L', color: Color::Red },
    Look { part: "io_read", letter: 'I', color: Color::Blue },
    Look { part: "io_write", letter: 'W', color: Color::LightBlue },
    Look { part: "sync", letter: 'S', color: Color::Magenta },
    Look { part: "net", letter: 'N', color: Color::Cyan },
    Look { part: "sleep", letter: 'Z', color: Color::DarkGray },
    Look { part: "other", letter: 'O', color: Color::LightRed },
    Look { part: "throttled", letter: 'T', color: Color::LightMagenta },
    Look { part: "stopped", letter: 'X', color: Color::White },
];

/// What stands for what no part explains.
const UNEXPLAINED: char = '?';

/// How a part is drawn.
pub(super) fn style_of(part: &str, in_color: bool) -> Style {
    let look = LOOKS.iter().find(|look| look.part == part);
    let color = look.map_or(Color::Gray, |look| look.color);
    if in_color { Style::new().bg(color).fg(Color::Black) } else { Style::new() }
}

/// The letter of a part.
pub(super) fn letter_of(part: &str) -> char {
    LOOKS.iter().find(|look| look.part == part).map_or(UNEXPLAINED, |look| look.letter)
}

/// A bar of so many columns in which each part has its share of `whole`, which is all of it; the
/// shares are those of the largest remainders, so that they fill the bar.
pub(super) fn stacked(
    parts: &RequestParts,
    whole: Nanos,
    columns: usize,
    in_color: bool,
) -> Vec<Span<'static>> {
    let named = parts.named();
    let rest = whole - parts.sum();
    let lengths: Vec<u64> = named.iter().map(|(_, part)| part.0).chain([rest.0]).collect();
    let names = named.iter().map(|(name, _)| *name).chain(["unexplained"]);
    let cells = shares(&lengths, columns);
    let spans = names.zip(cells).filter(|(_, cells)| *cells > 0);
    spans
        .map(|(name, cells)| {
            let text: String = std::iter::repeat_n(letter_of(name), cells).collect();
            Span::styled(text, style_of(name, in_color))
        })
        .collect()
}

/// `columns` dealt out by `lengths`.
fn shares(lengths: &[u64], columns: usize) -> Vec<usize> {
    let sum: u128 = lengths.iter().map(|length| u128::from(*length)).sum();
    if sum == 0 {
        return vec![0; lengths.len()];
    }
    let exact = |length: &u64| u128::from(*length) * columns as u128;
    let mut cells: Vec<usize> = lengths.iter().map(|l| (exact(l) / sum) as usize).collect();
    let mut by_rest: Vec<usize> = (0..lengths.len()).collect();
    by_rest.sort_by_key(|index| std::cmp::Reverse(exact(&lengths[*index]) % sum));
    let missing = columns - cells.iter().sum::<usize>();
    by_rest.iter().take(missing).for_each(|index| cells[*index] += 1);
    cells
}

/// Parts of which few have ever anything: there is no room for their letters on narrow screens.
const RARE: [&str; 2] = ["throttled", "stopped"];

/// What the letters mean that may be in bars of these parts.
pub(super) fn legend(parts: &RequestParts, in_color: bool) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let named = parts.named();
    let is_there = |look: &&Look| {
        let has = named.iter().any(|(name, part)| *name == look.part && *part > Nanos::ZERO);
        has || !RARE.contains(&look.part)
    };
    for look in LOOKS.iter().filter(is_there) {
        spans.push(Span::styled(look.letter.to_string(), style_of(look.part, in_color)));
        let word = match look.part {
            "runq_preempted" => "pre-empted",
            "runq_woken" => "runq",
            "io_read" => "read",
            "io_write" => "write",
            word => word,
        };
        spans.push(Span::raw(format!(" {word} ")));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bar_is_as_long_as_it_should_be_and_its_parts_as_well() {
        let parts = RequestParts { cpu: Nanos(60), lock: Nanos(30), ..RequestParts::default() };
        let bar = stacked(&parts, Nanos(100), 10, true);
        let text: String = bar.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(text, "CCCCCCLLL?");
        assert_eq!(bar[0].style.bg, Some(Color::Green));
        assert_eq!(stacked(&parts, Nanos(100), 10, false)[0].style, Style::new());
        assert!(stacked(&RequestParts::default(), Nanos::ZERO, 10, true).is_empty());
    }

    #[test]
    fn every_part_has_a_look() {
        let names = RequestParts::default().named().map(|(name, _)| name);
        assert_eq!(names, LOOKS.map(|look| look.part));
        assert!(names.iter().all(|name| letter_of(name) != UNEXPLAINED));
    }

    proptest! {
        #[test]
        fn shares_fill_the_columns(lengths in proptest::collection::vec(any::<u64>(), 1..12),
                                   columns in 0usize..200) {
            let sum: usize = shares(&lengths, columns).iter().sum();
            prop_assert_eq!(sum, if lengths.iter().all(|l| *l == 0) { 0 } else { columns });
        }
    }
}
