//! Forms that are prepared several times: SQLite and MariaDB may execute one statement some 5 %
//! slower than the same one beside it, by where in memory each of them has come to lie. Over many
//! places that is in no comparison.

use crate::query::session::{QuerySession, SessionForm};
use dbtime_model::Product;

/// How often each form is prepared.
const COPIES: usize = 12;

/// Copies of each form; none on PostgreSQL, which plans the first five executions of each prepared
/// statement one by one, and where both forms take the same time without.
#[derive(Debug, Default)]
pub(super) struct FormCopies(Vec<Vec<SessionForm>>);

impl FormCopies {
    /// Prepares the copies, those of all forms by turns.
    pub(super) fn prepared(session: &mut QuerySession<'_>, forms: &[&SessionForm]) -> Self {
        let mut copies = vec![Vec::new(); forms.len()];
        let rounds = match session.product {
            Product::Sqlite | Product::Mariadb | Product::Mysql => COPIES,
            Product::Postgres => 0,
        };
        for _ in 0..rounds {
            for (form, own) in forms.iter().zip(&mut copies) {
                // Without one that is refused there are fewer.
                own.extend(session.prepare(&form.text).ok());
            }
        }
        Self(copies)
    }

    /// The copy of a form that a random number chooses; `None`: there is none.
    pub(super) fn chosen(&self, form: usize, number: u64) -> Option<&SessionForm> {
        let copies = self.0.get(form)?;
        // Each form has digits of its own.
        let digits = (number >> (16 * (form % 3))) & 0xffff;
        copies.get(digits as usize % copies.len().max(1))
    }

    /// Forgets all of them.
    pub(super) fn forget(self, session: &mut QuerySession<'_>) {
        self.0.into_iter().flatten().for_each(|copy| session.forget(copy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::fake_place::FakePlace;
    use crate::query::form_text::FormText;
    use dbtime_model::{Nanos, SqlDialect};

    #[test]
    fn forms_have_copies_and_each_is_chosen() {
        let products =
            [(SqlDialect::Sqlite, COPIES), (SqlDialect::Mysql, COPIES), (SqlDialect::Postgres, 0)];
        for (dialect, copies) in products {
            let place = FakePlace::new(dialect, |_, _, _| Ok(Nanos::ZERO));
            let mut session = place.session();
            let native = "SELECT a FROM t".to_owned();
            let text = FormText { native, ..FormText::default() };
            let form = session.prepare(&text).expect("a form");
            let found = FormCopies::prepared(&mut session, &[&form, &form]);
            assert!(found.0.iter().all(|of_form| of_form.len() == copies));
            for number in 0..copies {
                let is_it = |form: usize, digits: u64| {
                    let chosen = found.chosen(form, digits);
                    chosen.is_some_and(|chosen| std::ptr::eq(chosen, &found.0[form][number]))
                };
                assert!(is_it(0, number as u64) && is_it(1, (number as u64) << 16));
            }
            assert!(found.chosen(2, 0).is_none() && found.chosen(0, 0).is_some() == (copies > 0));
            found.forget(&mut session);
        }
    }
}
