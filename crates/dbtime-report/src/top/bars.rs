//! Parts of a time as stacked bars. Each part has a colour and a letter, so that bars can be read
//! without colours.

use dbtime_model::{Nanos, Part, Parts};
use ratatui::style::{Color, Style};
use ratatui::text::Span;

/// How a part is drawn: its letter, its colour, and what it is called in the legend.
struct PartStyle {
    part: Part,
    letter: char,
    color: Color,
}

const PART_STYLES: [PartStyle; 12] = [
    PartStyle { part: Part::Cpu, letter: 'C', color: Color::Green },
    PartStyle { part: Part::RunqPreempted, letter: 'P', color: Color::Yellow },
    PartStyle { part: Part::RunqWoken, letter: 'R', color: Color::LightYellow },
    PartStyle { part: Part::Lock, letter: 'L', color: Color::Red },
    PartStyle { part: Part::IoRead, letter: 'I', color: Color::Blue },
    PartStyle { part: Part::IoWrite, letter: 'W', color: Color::LightBlue },
    PartStyle { part: Part::Sync, letter: 'S', color: Color::Magenta },
    PartStyle { part: Part::Net, letter: 'N', color: Color::Cyan },
    PartStyle { part: Part::Sleep, letter: 'Z', color: Color::DarkGray },
    PartStyle { part: Part::Other, letter: 'O', color: Color::LightRed },
    PartStyle { part: Part::Throttled, letter: 'T', color: Color::LightMagenta },
    PartStyle { part: Part::Stopped, letter: 'X', color: Color::White },
];

/// What stands for what no part explains.
const UNEXPLAINED: char = '?';

/// How a part is drawn.
pub(super) fn style_of(part: Part, in_color: bool) -> Style {
    let style = PART_STYLES.iter().find(|style| style.part == part);
    let color = style.map_or(Color::Gray, |style| style.color);
    if in_color { Style::new().bg(color).fg(Color::Black) } else { Style::new() }
}

/// The letter of a part.
pub(super) fn letter_of(part: Part) -> char {
    PART_STYLES.iter().find(|style| style.part == part).map_or(UNEXPLAINED, |style| style.letter)
}

/// A bar of so many columns in which each part has its share of `whole`, which is all of it; the
/// shares are those of the largest remainders, so that they fill the bar. Where no part is known
/// there is no bar.
pub(super) fn stacked(
    parts: &Parts,
    whole: Nanos,
    columns: usize,
    in_color: bool,
) -> Vec<Span<'static>> {
    if parts.are_unknown() {
        return Vec::new();
    }
    let mut closed = *parts;
    closed.close(whole);
    let shown = Part::TRACED.into_iter().chain([Part::Unexplained]);
    let lengths: Vec<u64> = shown.clone().map(|part| closed.duration(part).0).collect();
    let cells = shares(&lengths, columns);
    let spans = shown.zip(cells).filter(|(_, cells)| *cells > 0);
    spans
        .map(|(part, cells)| {
            let text: String = std::iter::repeat_n(letter_of(part), cells).collect();
            Span::styled(text, style_of(part, in_color))
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
const RARE: [Part; 2] = [Part::Throttled, Part::Stopped];

/// What the letters mean that may be in bars of these parts.
pub(super) fn legend(parts: &Parts, in_color: bool) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let is_there = |style: &&PartStyle| parts.get(style.part) > 0 || !RARE.contains(&style.part);
    for style in PART_STYLES.iter().filter(is_there) {
        spans.push(Span::styled(style.letter.to_string(), style_of(style.part, in_color)));
        let word = match style.part {
            Part::RunqPreempted => "pre-empted",
            Part::RunqWoken => "woken",
            Part::IoRead => "read",
            Part::IoWrite => "write",
            part => part.name(),
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
        let parts = Parts::of(&[(Part::Cpu, 60), (Part::Lock, 30)]);
        let bar = stacked(&parts, Nanos(100), 10, true);
        let text: String = bar.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(text, "CCCCCCLLL?");
        assert_eq!(bar[0].style.bg, Some(Color::Green));
        assert_eq!(stacked(&parts, Nanos(100), 10, false)[0].style, Style::new());
        assert!(stacked(&Parts::default(), Nanos::ZERO, 10, true).is_empty());
    }

    #[test]
    fn every_part_has_a_look() {
        assert_eq!(PART_STYLES.map(|style| style.part), Part::TRACED);
        assert!(Part::TRACED.into_iter().all(|part| letter_of(part) != UNEXPLAINED));
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
