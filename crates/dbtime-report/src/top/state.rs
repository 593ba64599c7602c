//! What the reader has chosen to see, and how keys change it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The tables there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TopView {
    /// Statements, by their fingerprint.
    #[default]
    Statements,
    /// Connections, and what they are at.
    Connections,
    /// Who waited for whose locks.
    Blockers,
    /// Who had the CPU.
    Preemptors,
}

pub(super) const VIEWS: [(TopView, &str); 4] = [
    (TopView::Statements, "Statements"),
    (TopView::Connections, "Connections"),
    (TopView::Blockers, "Blockers"),
    (TopView::Preemptors, "Pre-emptors"),
];

/// What statements are sorted by; the most first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// Their time in all.
    #[default]
    Total,
    /// How often they were executed.
    Calls,
    /// The mean response.
    Mean,
    /// The 99th percentile.
    P99,
    /// Their CPU time in all.
    Cpu,
    /// Their waits for locks in all.
    Lock,
    /// Those that failed.
    Errors,
}

pub(super) const SORTS: [(SortOrder, &str); 7] = [
    (SortOrder::Total, "total"),
    (SortOrder::Calls, "calls"),
    (SortOrder::Mean, "mean"),
    (SortOrder::P99, "p99"),
    (SortOrder::Cpu, "cpu"),
    (SortOrder::Lock, "lock"),
    (SortOrder::Errors, "errors"),
];

/// What is to happen after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAction {
    /// Only the screen changes.
    Nothing,
    /// Count from now on.
    Restart,
    /// End.
    Quit,
}

/// What the reader sees.
#[derive(Clone, Debug, Default)]
pub struct TopState {
    /// Which table.
    pub view: TopView,
    /// How statements are sorted.
    pub sort: SortOrder,
    /// Whether all is shown since the beginning, rather than the last interval.
    pub is_whole: bool,
    /// Whether the screen stands still.
    pub is_frozen: bool,
    /// Only rows with this in them, in any case.
    pub filter: String,
    /// Whether keys go to the filter.
    pub is_typing: bool,
    /// Which row, from the top.
    pub selected: usize,
    /// The statement that is looked into.
    pub statement: Option<String>,
    /// Whether the keys are explained.
    pub has_help: bool,
    /// Whether the terminal shows colours.
    pub in_color: bool,
    /// How many rows the table had when it was drawn last, and how many of them fit.
    pub(super) rows: usize,
    pub(super) page: usize,
    /// The statement of the selected row.
    pub(super) under_cursor: Option<String>,
}

impl TopState {
    /// How it begins.
    pub fn new(in_color: bool) -> Self {
        Self { in_color, ..Self::default() }
    }

    /// Takes a key in.
    pub fn key(&mut self, key: KeyEvent) -> UserAction {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') {
                UserAction::Quit
            } else {
                UserAction::Nothing
            };
        }
        if self.is_typing {
            self.type_in(key.code);
            return UserAction::Nothing;
        }
        if self.has_help {
            self.has_help = false;
            return UserAction::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return UserAction::Quit,
            KeyCode::Char('r') => return UserAction::Restart,
            KeyCode::Char('s') => self.sort = next(&SORTS, self.sort, 1),
            KeyCode::Char('S') => self.sort = next(&SORTS, self.sort, SORTS.len() - 1),
            KeyCode::Char('w') => self.is_whole = !self.is_whole,
            KeyCode::Char('f' | ' ') => self.is_frozen = !self.is_frozen,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('?' | 'h') => self.has_help = true,
            KeyCode::Char(digit @ '1'..='4') => {
                self.show_view(VIEWS[digit as usize - '1' as usize].0)
            }
            KeyCode::Tab => self.show_view(next(&VIEWS, self.view, 1)),
            KeyCode::BackTab => self.show_view(next(&VIEWS, self.view, VIEWS.len() - 1)),
            KeyCode::Enter if self.view == TopView::Statements => {
                self.statement = self.under_cursor.clone();
            }
            KeyCode::Esc | KeyCode::Backspace => self.go_back(),
            code => self.move_by(code),
        }
        UserAction::Nothing
    }

    fn show_view(&mut self, view: TopView) {
        (self.view, self.statement, self.selected) = (view, None, 0);
    }

    /// Out of a statement, or else back to all rows.
    fn go_back(&mut self) {
        if self.statement.take().is_none() {
            self.filter.clear();
        }
    }

    fn type_in(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => (self.is_typing, self.filter) = (false, String::new()),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(sign) if !sign.is_control() => self.filter.push(sign),
            _ => {}
        }
        self.selected = 0;
    }

    fn move_by(&mut self, code: KeyCode) {
        let last = self.rows.saturating_sub(1);
        self.selected = match code {
            KeyCode::Up | KeyCode::Char('k') => self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected + 1,
            KeyCode::PageUp => self.selected.saturating_sub(self.page),
            KeyCode::PageDown => self.selected + self.page,
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => self.selected,
        }
        .min(last);
    }

    /// Whether a row is wanted that shows these texts.
    pub(super) fn matches_filter(&self, texts: &[&str]) -> bool {
        let needle = self.filter.to_lowercase();
        needle.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&needle))
    }

    /// Notes how many rows there are for so much room; returns the first that is to be shown.
    pub(super) fn scroll(&mut self, rows: usize, page: usize) -> usize {
        (self.rows, self.page) = (rows, page);
        self.selected = self.selected.min(rows.saturating_sub(1));
        (self.selected + 1).saturating_sub(page.max(1))
    }
}

fn next<T: Copy + PartialEq, const N: usize>(all: &[(T, &str); N], now: T, by: usize) -> T {
    let at = all.iter().position(|(one, _)| *one == now).unwrap_or_default();
    all[(at + by) % N].0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(state: &mut TopState, codes: &[KeyCode]) -> UserAction {
        let wishes = codes.iter().map(|code| state.key(KeyEvent::from(*code)));
        wishes.last().unwrap_or(UserAction::Nothing)
    }

    fn typed(text: &str) -> Vec<KeyCode> {
        text.chars().map(KeyCode::Char).collect()
    }

    #[test]
    fn keys_choose_views_and_orders() {
        let mut state = TopState::default();
        press(&mut state, &[KeyCode::Tab, KeyCode::Tab]);
        assert_eq!(state.view, TopView::Blockers);
        press(&mut state, &[KeyCode::BackTab, KeyCode::Char('4')]);
        assert_eq!(state.view, TopView::Preemptors);
        press(&mut state, &typed("sSSwf"));
        assert_eq!((state.sort, state.is_whole, state.is_frozen), (SortOrder::Errors, true, true));
        assert_eq!(press(&mut state, &typed("r")), UserAction::Restart);
        assert_eq!(press(&mut state, &typed("q")), UserAction::Quit);
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(state.key(ctrl_c), UserAction::Quit);
    }

    #[test]
    fn what_is_typed_filters_and_is_no_command() {
        let mut state = TopState::default();
        assert_eq!(press(&mut state, &typed("/Quit")), UserAction::Nothing);
        assert!(
            state.is_typing
                && state.matches_filter(&["do it", "don't QUIT"])
                && !state.matches_filter(&["no"])
        );
        press(&mut state, &[KeyCode::Backspace, KeyCode::Enter]);
        assert_eq!((state.filter.as_str(), state.is_typing), ("Qui", false));
        press(&mut state, &[KeyCode::Esc]);
        assert!(state.filter.is_empty());
    }

    #[test]
    fn the_cursor_stays_in_the_table_and_in_sight() {
        let mut state = TopState::default();
        assert_eq!(state.scroll(30, 10), 0);
        press(&mut state, &[KeyCode::PageDown, KeyCode::Down]);
        assert_eq!((state.selected, state.scroll(30, 10)), (11, 2));
        press(&mut state, &[KeyCode::End, KeyCode::Down]);
        assert_eq!((state.selected, state.scroll(30, 10)), (29, 20));
        assert_eq!((state.scroll(3, 10), state.selected), (0, 2));
        press(&mut state, &[KeyCode::Home, KeyCode::Up]);
        assert_eq!(state.selected, 0);
        assert_eq!(state.scroll(0, 0), 0);
    }

    #[test]
    fn a_statement_is_looked_into_and_left() {
        let mut state =
            TopState { under_cursor: Some("SELECT ?".to_owned()), ..TopState::default() };
        press(&mut state, &[KeyCode::Enter]);
        assert_eq!(state.statement.as_deref(), Some("SELECT ?"));
        press(&mut state, &[KeyCode::Esc]);
        assert_eq!(state.statement, None);
        press(&mut state, &[KeyCode::Char('?')]);
        assert!(state.has_help);
        assert_eq!(press(&mut state, &typed("q")), UserAction::Nothing);
        assert!(!state.has_help);
    }
}
