//! What a server is asked, one statement after the other, until the picture is whole.

use super::source::{LockSource, MAX_CLAIMS, RowKind};
use super::{mysql, postgres, rows};
use crate::counters::{CounterCell, ServerVersion};
use dbtime_model::lock_picture::{LockClaim, LockPicture};
use dbtime_model::{Product, SqlDialect};
use std::collections::BTreeSet;

/// Asks one server again and again who waits for whom.
#[derive(Debug)]
pub struct LockSurvey {
    product: Product,
    settings: Vec<&'static str>,
    sources: Vec<LockSource>,
    /// What a server has refused stays unasked: it logs and counts each error.
    refused: BTreeSet<&'static str>,
    /// What is lacking for good.
    notes: Vec<String>,
    /// Which source is the next.
    at: usize,
    picture: LockPicture,
}

/// Rows of an answer.
#[derive(Clone, Copy, Debug)]
pub struct SurveyAnswer<'a> {
    /// Names of the columns.
    pub columns: &'a [String],
    /// Rows, a cell for each column as the text protocol has it.
    pub rows: &'a [Vec<CounterCell>],
}

/// That a server has refused a statement.
#[derive(Clone, Copy, Debug)]
pub struct SurveyRefusal<'a> {
    /// The server's code: `1227`, `42501`.
    pub code: &'a str,
    /// What it says.
    pub message: &'a str,
    /// Whether it may do it the next time: a time-out, not a right.
    pub is_passing: bool,
}

impl LockSurvey {
    /// For a server of that product and version.
    pub fn new(product: Product, version: ServerVersion) -> Self {
        let (settings, sources) = match product.dialect() {
            SqlDialect::Postgres => (postgres::settings(version), postgres::sources(version)),
            SqlDialect::Mysql => {
                (mysql::settings(product, version), mysql::sources(product, version))
            }
            // It has no server to be asked.
            SqlDialect::Sqlite => Default::default(),
        };
        let (refused, notes) = Default::default();
        Self { product, settings, sources, refused, notes, at: 0, picture: LockPicture::default() }
    }

    /// Statements to be executed once, ahead of all: what is refused of them does no harm.
    pub fn settings(&self) -> &[&'static str] {
        &self.settings
    }

    /// The next statement; `None`: there is no further one, and [`finish`](Self::finish) has the
    /// picture.
    pub fn next_statement(&mut self) -> Option<String> {
        loop {
            let source = self.sources.get(self.at)?;
            if let Some(sql) = self.due(source) {
                return Some(sql.replace("{ids}", &self.ids()));
            }
            self.at += 1;
        }
    }

    /// What is left to ask of a source.
    fn due(&self, source: &LockSource) -> Option<&'static str> {
        let sessions = &self.picture.sessions;
        let is_needed = match source.brings {
            RowKind::Claims => true,
            RowKind::Sessions => !self.picture.claims.is_empty(),
            RowKind::Statements => sessions.iter().any(|one| one.statement.is_empty()),
        };
        let known = [Some(source.sql), source.instead].into_iter().flatten();
        known.filter(|_| is_needed).find(|sql| !self.refused.contains(sql))
    }

    /// Everybody who has to do with it.
    fn ids(&self) -> String {
        let both = |claim: &LockClaim| [Some(claim.waiter), claim.holder].into_iter().flatten();
        let ids: BTreeSet<u64> = self.picture.claims.iter().flat_map(both).collect();
        let ids: Vec<String> = ids.iter().take(MAX_CLAIMS).map(u64::to_string).collect();
        ids.join(", ")
    }

    /// Takes what came of the last statement.
    pub fn take(&mut self, outcome: Result<SurveyAnswer<'_>, SurveyRefusal<'_>>) {
        let Some(source) = self.sources.get(self.at).copied() else { return };
        match outcome {
            Ok(answer) => {
                self.add(source.brings, answer);
                self.at += 1;
            }
            Err(refused) if refused.is_passing => {
                let SurveyRefusal { code, message, .. } = refused;
                let lacks = if source.lacks.is_empty() { "not all is known" } else { source.lacks };
                self.picture.notes.push(format!("{lacks} now: {message} ({code})"));
                self.at += 1;
            }
            // What there is instead comes next.
            Err(refused) => self.refuse(source, refused),
        }
    }

    fn add(&mut self, brings: RowKind, SurveyAnswer { columns, rows }: SurveyAnswer<'_>) {
        let picture = &mut self.picture;
        match brings {
            RowKind::Claims => {
                picture.claims.extend(rows::claims(columns, rows));
                picture.claims.truncate(MAX_CLAIMS);
            }
            RowKind::Sessions => picture.sessions = rows::sessions(columns, rows, MAX_CLAIMS),
            RowKind::Statements => rows::add_statements(&mut picture.sessions, columns, rows),
        }
    }

    fn refuse(
        &mut self,
        source: LockSource,
        SurveyRefusal { code, message, .. }: SurveyRefusal<'_>,
    ) {
        let Some(sql) = self.due(&source) else { return };
        self.refused.insert(sql);
        let is_forbidden = mysql::FORBIDDEN.contains(&code);
        let note = match is_forbidden {
            true => format!("{}; {}", message.trim_end_matches('.'), mysql::REMEDY),
            false if source.lacks.is_empty() => return,
            false => format!("{} ({message})", source.lacks),
        };
        if !source.lacks.is_empty() && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The picture, which another one may follow.
    pub fn finish(&mut self) -> LockPicture {
        self.at = 0;
        let mut picture = std::mem::take(&mut self.picture);
        let held = with_holder(&picture.claims);
        picture.claims.retain(|claim| claim.holder.is_some() || !held.contains(&claim.waiter));
        let mut is_hidden = false;
        for session in &mut picture.sessions {
            if session.statement == postgres::HIDDEN {
                (session.statement, is_hidden) = (String::new(), true);
            }
        }
        if is_hidden && self.product == Product::Postgres {
            let note = postgres::REMEDY.to_owned();
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        picture.notes.splice(0..0, self.notes.iter().cloned());
        picture.ends_with = match self.product {
            Product::Postgres => "SELECT pg_terminate_backend(ID)",
            _ => "KILL ID",
        };
        picture
    }
}

/// Those of whom it is known for whom they wait. What one source does not know another may.
fn with_holder(claims: &[LockClaim]) -> BTreeSet<u64> {
    claims.iter().filter(|claim| claim.holder.is_some()).map(|claim| claim.waiter).collect()
}

#[cfg(test)]
mod tests;
