//! Texts of statements that may come again without them: what was prepared is named by a number,
//! however long ago that was, and may have lost its row meanwhile.

use super::literals::RawSql;
use super::sessions::text_of;
use crate::trace::kernel::layout::RawRequest;
use dbtime_model::WireProtocol;
use dbtime_wire::{mysql::command, postgres::frontend};
use std::collections::{HashMap, VecDeque};

/// Together they have so much room. Unit: bytes.
const MAX_BYTES: usize = 4 << 20;

/// What a text takes beside its own bytes.
const ENTRY_BYTES: usize = 96;

/// The texts, by the kernel's numbers of the statements; the oldest go first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReturningTexts {
    texts: HashMap<u64, RawSql>,
    in_order: VecDeque<u64>,
    bytes: usize,
}

impl ReturningTexts {
    /// Keeps the text of a request, if it may come again without one. Returns the text.
    pub(crate) fn keep(&mut self, statement: u64, request: &RawRequest<'_>) -> RawSql {
        if let Some(text) = self.texts.get(&statement) {
            return text.clone();
        }
        let text = text_of(request);
        if may_return(request) {
            self.texts.insert(statement, text.clone());
            self.in_order.push_back(statement);
            self.bytes += text.len() + ENTRY_BYTES;
            self.make_room();
        }
        text
    }

    /// The text of a statement.
    pub(crate) fn of(&self, statement: u64) -> Option<RawSql> {
        self.texts.get(&statement).cloned()
    }

    fn make_room(&mut self) {
        while self.bytes > MAX_BYTES {
            let Some(oldest) = self.in_order.pop_front() else { return };
            let text = self.texts.remove(&oldest);
            self.bytes -= text.map_or(0, |text| text.len() + ENTRY_BYTES);
        }
    }
}

/// Whether it prepared a statement, or executes one of which the server told the text.
fn may_return(request: &RawRequest<'_>) -> bool {
    let prepares = match (request.protocol, request.record.command) {
        (WireProtocol::Mysql, command) => command == command::STMT_PREPARE,
        (WireProtocol::Postgres, frontend::PARSE) => true,
        // Without a name it is there until the next.
        (WireProtocol::Postgres, _) => !request.name.is_empty(),
    };
    prepares || request.server_text().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::kernel::layout::tests::written;
    use dbtime_sql::LexicalRules;

    fn keep(texts: &mut ReturningTexts, statement: u64, command: u8, text: &str) -> RawSql {
        let bytes = written(1, command, text.as_bytes(), |_| {});
        texts.keep(statement, &RawRequest::read(&bytes).expect("a request"))
    }

    #[test]
    fn what_was_prepared_is_kept_and_the_oldest_goes_where_there_is_no_room() {
        let mut texts = ReturningTexts::default();
        let rules = LexicalRules::of_protocol(Some(WireProtocol::Mysql));
        let raw = |text: &str| RawSql::new(text.as_bytes(), rules);
        assert_eq!(keep(&mut texts, 1, command::QUERY, "SELECT 1"), raw("SELECT 1"));
        assert_eq!(texts.of(1), None);
        let long = "x".repeat(1000);
        for statement in 2..8000 {
            keep(&mut texts, statement, command::STMT_PREPARE, &long);
            keep(&mut texts, statement, command::STMT_PREPARE, "it has one");
        }
        assert_eq!((texts.of(2), texts.of(7999)), (None, Some(raw(&long))));
        assert!((MAX_BYTES - 2000..=MAX_BYTES).contains(&texts.bytes), "{}", texts.bytes);
        assert_eq!(texts.texts.len(), texts.in_order.len());
    }
}
