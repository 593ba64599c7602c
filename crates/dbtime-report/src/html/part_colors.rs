//! One colour per part, in light and in dark.
//!
//! The hues are those of Okabe and Ito (2008), which people with any kind of colour vision tell
//! apart; kin share a hue and differ in lightness. Neighbours in a bar are also kept apart by a
//! gap, and every figure is in the text besides.

use dbtime_model::Part;
use std::fmt::Write;

/// A part's colour as a small square, and its name, never parted by the end of a line.
pub(crate) fn chip(part: Part) -> String {
    let name = part.name();
    format!(
        "<span class=\"chip\"><i class=\"swatch p-{name}\" aria-hidden=\"true\"></i>{name}</span>"
    )
}

/// The fill and the ink upon it, on a light and on a dark page.
struct PartColors {
    light: (&'static str, &'static str),
    dark: (&'static str, &'static str),
}

const DARK_INK: &str = "#16181d";
const LIGHT_INK: &str = "#ffffff";

fn colors(part: Part) -> PartColors {
    let on_both = |fill, ink| PartColors { light: (fill, ink), dark: (fill, ink) };
    match part {
        Part::Queue => on_both("#cc79a7", DARK_INK),
        Part::Lag => on_both("#ecc5da", DARK_INK),
        Part::Client => on_both("#a3a8b3", DARK_INK),
        Part::Think => on_both("#c9cdd4", DARK_INK),
        Part::Backoff => on_both("#8a7fb0", DARK_INK),
        Part::Wire => on_both("#56b4e9", DARK_INK),
        Part::ServerQueue => on_both("#b5dcf5", DARK_INK),
        Part::Cpu => on_both("#2ca888", DARK_INK),
        Part::Runq => on_both("#a8dccb", DARK_INK),
        Part::RunqPreempted => on_both("#8fcbb8", DARK_INK),
        Part::RunqWoken => on_both("#c3ebdf", DARK_INK),
        Part::Throttled => on_both("#7d9c4f", DARK_INK),
        Part::Stopped => on_both("#b9a3a3", DARK_INK),
        Part::Lock => on_both("#d9651a", DARK_INK),
        Part::IoRead => on_both("#f0e442", DARK_INK),
        Part::IoWrite => on_both("#e6a817", DARK_INK),
        Part::Sync => PartColors { light: ("#0072b2", LIGHT_INK), dark: ("#3d8fc4", DARK_INK) },
        Part::Net => PartColors { light: ("#3b6fa0", LIGHT_INK), dark: ("#7aa6cf", DARK_INK) },
        Part::Sleep => on_both("#d8d2c4", DARK_INK),
        Part::Other => on_both("#a98467", DARK_INK),
        Part::ServerAndWire => on_both("#7fb6c9", DARK_INK),
        Part::Unexplained => {
            PartColors { light: ("#5b616e", LIGHT_INK), dark: ("#868d9b", DARK_INK) }
        }
    }
}

/// The rules of the style sheet: variables by scheme, and a class per part.
pub(super) fn rules() -> String {
    let mut out = String::new();
    let vars = |out: &mut String, pick: fn(&PartColors) -> (&'static str, &'static str)| {
        for part in Part::ALL {
            let (fill, ink) = pick(&colors(part));
            let name = part.name();
            let _ = write!(out, "--{name}:{fill};--{name}-ink:{ink};");
        }
    };
    out.push_str(":root{");
    vars(&mut out, |c| c.light);
    out.push_str("}\n@media screen and (prefers-color-scheme:dark){:root{");
    vars(&mut out, |c| c.dark);
    out.push_str("}}\n");
    for part in Part::ALL {
        let name = part.name();
        let _ = writeln!(
            out,
            ".p-{name}{{fill:var(--{name});background:var(--{name})}}\
             .p-{name}-ink{{fill:var(--{name}-ink)}}"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance after WCAG 2.
    fn luminance(hex: &str) -> f64 {
        let channel = |at: usize| {
            let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour")) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn labels_can_be_read_on_their_part() {
        for part in Part::ALL {
            for (fill, ink) in [colors(part).light, colors(part).dark] {
                // 4.5 is the AA level of WCAG 2 for ordinary text.
                assert!(contrast(fill, ink) >= 4.5, "{}: {:.2}", part.name(), contrast(fill, ink));
            }
        }
    }

    #[test]
    fn every_part_has_a_colour_of_its_own() {
        let mut fills: Vec<_> = Part::ALL.map(|part| colors(part).light.0).into();
        fills.sort_unstable();
        fills.dedup();
        assert_eq!(fills.len(), Part::ALL.len());
    }
}
