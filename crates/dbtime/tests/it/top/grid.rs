//! What stands on a screen after everything that a terminal was told.

const ROWS: usize = 24;
const COLUMNS: usize = 80;

/// The screen's lines. Of all that moves and erases only what ratatui makes use of is known.
pub(super) fn shown(told: &[u8]) -> String {
    let text = String::from_utf8_lossy(told);
    let (mut cells, mut row, mut column) = (vec![[' '; COLUMNS]; ROWS], 0, 0);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            if let Some(cell) = cells.get_mut(row).and_then(|line| line.get_mut(column)) {
                *cell = sign;
            }
            column += 1;
            continue;
        }
        if signs.next() != Some('[') {
            continue;
        }
        let mut parameters = String::new();
        let last = signs.by_ref().find(|sign| {
            parameters.push(*sign);
            sign.is_ascii_alphabetic()
        });
        parameters.pop();
        match last {
            Some('H') => {
                let place = |nth: usize| {
                    let number = parameters.split(';').nth(nth).and_then(|n| n.parse().ok());
                    number.unwrap_or(1usize).saturating_sub(1)
                };
                (row, column) = (place(0), place(1));
            }
            Some('J') => cells.fill([' '; COLUMNS]),
            _ => {}
        }
    }
    let line = |cells: [char; COLUMNS]| String::from_iter(cells).trim_end().to_owned();
    cells.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
