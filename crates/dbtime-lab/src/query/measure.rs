//! From a request to a record.

mod plan_only;

use super::counters::{counters_of, workers_note};
use super::expectations::expectations;
use super::form_text::FormText;
use super::keys::{QueryKeys, read_keys};
use super::pairs::{PairPlan, measure_form, measure_pairs};
use super::parts::parts_of;
use super::place::QueryPlace;
use super::plans::PlanDepth;
use super::progress::QueryProgress;
use super::request::QueryRequest;
use super::rows_check::{RowsPlan, check_rows};
use super::samples::FormSamples;
use super::session::{QuerySession, SessionForm};
use super::settings::{LIMIT_GRACE, set_up};
use super::statement_place::{copied, given_place, refused};
use super::tournament::{self, TournamentScene};
use super::usual_plan::usual_plan;
use super::write_guard::guard_writes;
use super::{against, trials};
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::StatementBound;
use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_model::plain_text::legible;
use dbtime_model::query::{QueryForm, QueryRecord, QueryTarget, RowsCheck, SCHEMA};
use dbtime_observe::process::ServerWatch;
use dbtime_sql::{StatementOutline, fingerprint, without_passwords};
use jiff::Timestamp;

/// Measures a statement, or compares two forms of one. Blocks until that is done; `stop` ends it
/// early, with what there is.
///
/// # Errors
/// [`LabError`]: the request asks for the impossible, the target cannot be used, or a form is
/// refused before anything was measured.
pub fn measure(
    request: &QueryRequest,
    progress: &dyn Fn(QueryProgress),
    stop: &RunStop,
) -> Result<QueryRecord, LabError> {
    let started_at = Timestamp::now().to_string();
    let place = given_place(request)?;
    // SQLite has no limit of its own: here dbtime's is the only one.
    let grace = if place.sqlite().is_some() { Nanos::ZERO } else { LIMIT_GRACE };
    let bound = StatementBound { limit: request.statement_timeout + grace, stop: stop.clone() };
    let copy = match request.on_copy.is_some() {
        true => Some(copied(request, &*place, &bound, progress)?),
        false => None,
    };
    let (copy, keys) = copy.unzip();
    let place: &dyn QueryPlace = copy.as_ref().map_or(&*place, |copy| copy);
    let mut session = QuerySession::open(place, &bound, request.commits)?;
    let scene = QueryScene { request, progress, stop };
    let notes = copy.as_ref().map(|copy| copy.notes.as_slice());
    let measured = scene.record(&mut session, notes, keys);
    session.end_given_up();
    let record = measured?;
    Ok(QueryRecord { started_at, ..record })
}

/// What is to be done, and who hears of it.
struct QueryScene<'q> {
    request: &'q QueryRequest,
    progress: &'q dyn Fn(QueryProgress),
    stop: &'q RunStop,
}

impl QueryScene<'_> {
    fn record(
        &self,
        session: &mut QuerySession<'_>,
        copy_notes: Option<&[String]>,
        keys: Option<QueryKeys>,
    ) -> Result<QueryRecord, LabError> {
        let is_copy = copy_notes.is_some();
        let request = self.request;
        let rules = session.place.lexical_rules();
        let texts = FormText::parse_all(&request.forms, session.product, &rules)?;
        let outlines: Vec<_> =
            texts.iter().map(|text| StatementOutline::of(&text.given, &rules)).collect();
        let set = set_up(session, request.statement_timeout);
        let mut notes =
            set.map_err(|failure| LabError::Refused { target: session.place.url(), failure })?;
        notes.splice(0..0, copy_notes.unwrap_or_default().iter().cloned());
        if request.plan_only {
            let mut record = self.begun(notes);
            self.add_plans_alone(session, &texts, &mut record)?;
            return finished(record, request, session);
        }
        guard_writes(session, &texts, &outlines)?;
        let keys = match keys {
            Some(keys) => keys,
            None => read_keys(request, &texts, session)?,
        };
        let prepared = self.prepared(session, &texts)?;
        let (forms, preparing): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        let mut record = self.begun(notes);
        self.measure_forms(session, &forms, &keys, &mut record);
        for ((measured, form), taken) in record.forms.iter_mut().zip(&forms).zip(preparing) {
            if let (Some(first), Some(_)) = (&mut measured.first, &form.prepared) {
                first.prepare_us = Some(taken.as_micros());
            }
        }
        parts_of(session, &forms, &keys, request, self.stop, self.progress).add_to(&mut record);
        self.look_closer(session, &forms, &keys, &mut record);
        if let [a, b] = forms.as_slice() {
            record.rows = Some(self.compare_rows(session, [a, b], &keys));
        }
        self.try_others(session, &forms, &keys, &mut record, is_copy);
        record.notes.append(&mut session.guard.notes);
        record.notes.extend(session.committed_note());
        record.notes.extend(ended_note(self.stop));
        record.is_cut = session.connection.is_given_up() && !self.stop.is_set();
        record.keys = keys.summary(drawn(&record));
        finished(record, request, session)
    }

    /// A record in which nothing was measured.
    fn begun(&self, notes: Vec<String>) -> QueryRecord {
        QueryRecord {
            schema: SCHEMA,
            dbtime: self.request.version.clone(),
            command: self.request.command.clone(),
            notes,
            ..QueryRecord::default()
        }
    }

    /// The forms on the session, each with what preparing it took.
    fn prepared(
        &self,
        session: &mut QuerySession<'_>,
        texts: &[FormText],
    ) -> Result<Vec<(SessionForm, Nanos)>, LabError> {
        let place = session.place;
        let prepare = |text: &FormText| {
            let begun = now();
            let prepared = session.prepare(text);
            let taken = now() - begun;
            prepared.map(|form| (form, taken)).map_err(|failure| refused(place, text, &failure))
        };
        texts.iter().map(prepare).collect()
    }

    fn pair_plan<'p>(&'p self, keys: &'p QueryKeys) -> PairPlan<'p> {
        PairPlan {
            keys,
            first_key: 0,
            seed: self.request.seed,
            time: self.request.budget,
            fewest: 30,
            most: 20_000,
            stop: self.stop,
            progress: self.progress,
        }
    }

    /// Plain executions.
    fn measure_forms(
        &self,
        session: &mut QuerySession<'_>,
        forms: &[SessionForm],
        keys: &QueryKeys,
        record: &mut QueryRecord,
    ) {
        let plan = self.pair_plan(keys);
        match forms {
            [a, b] => {
                let samples = measure_pairs(session, [a, b], &plan);
                record.comparison = samples.comparison(self.request.margin);
                record.forms = [(a, 0), (b, 1)]
                    .map(|(form, side)| self.form(session, form, &samples.side(side)))
                    .into();
            }
            [form, ..] => {
                let pid = session.place.server_pid();
                let mut watch = pid.and_then(|pid| ServerWatch::new(pid).ok());
                let mut glance = || watch.as_mut().and_then(|watch| watch.glance().ok());
                let before = glance();
                let samples = measure_form(session, form, &plan);
                let after = glance();
                let mut measured = self.form(session, form, &samples);
                let cpu = before.zip(after).map(|(before, after)| after.cpu_since(&before));
                // What a rollback behind each execution uses is not the statement's.
                let cpu = cpu.filter(|_| !session.is_undone(&form.text));
                measured.server_cpu_us = cpu.and_then(|cpu| per_execution(cpu, samples.executed));
                record.forms = vec![measured];
            }
            [] => {}
        }
    }

    fn form(
        &self,
        session: &QuerySession<'_>,
        form: &SessionForm,
        samples: &FormSamples,
    ) -> QueryForm {
        let rules = session.place.lexical_rules();
        let given = &form.text.given;
        let sql = match self.request.is_raw {
            true => without_passwords(given).into_owned(),
            false => {
                let mut shown = String::new();
                fingerprint(given, &rules, &mut shown);
                shown
            }
        };
        QueryForm {
            name: form.text.name.clone(),
            source: form.text.source.clone(),
            sql,
            first: samples.first,
            times: samples.times(),
            failed: samples.failed,
            failure: samples.failure.clone(),
            ..QueryForm::default()
        }
    }

    /// Plans and counters, beside what was measured.
    fn look_closer(
        &self,
        session: &mut QuerySession<'_>,
        forms: &[SessionForm],
        keys: &QueryKeys,
        record: &mut QueryRecord,
    ) {
        for (place, form) in forms.iter().enumerate() {
            if self.stop.has_come(now()) || session.connection.is_given_up() {
                let why = match session.connection.is_given_up() && !self.stop.is_set() {
                    true => "the connection was lost",
                    false => "the command was ended",
                };
                record.notes.push(format!("plans and counters were not read: {why}"));
                return;
            }
            self.report(format!("reading the plan of {}", form.text.name), place, forms.len());
            self.look_at(session, form, place, keys, record);
        }
    }

    /// The plan and the counters of the form at a place of the record.
    fn look_at(
        &self,
        session: &mut QuerySession<'_>,
        form: &SessionForm,
        place: usize,
        keys: &QueryKeys,
        record: &mut QueryRecord,
    ) {
        // What never came to an end is not executed once more.
        let has_times = record.forms[place].times.is_some();
        let depth = match self.request.analyzes && has_times {
            true => PlanDepth::Executed,
            false => PlanDepth::Estimated,
        };
        let key = keys.draw(0);
        match usual_plan(session, form, &key, depth, self.request.is_raw) {
            Ok(plan) => record.forms[place].plan = Some(plan),
            Err(why) => record.notes.push(format!("{} has no plan: {why}", form.text.name)),
        }
        if !has_times {
            return;
        }
        let looked: Vec<_> = (0..3).map(|index| keys.draw(index)).collect();
        match counters_of(session, form, &looked) {
            Ok(counters) => {
                record.forms[place].counters = counters;
                record.notes.extend(workers_note(session.product, &record.forms[place]));
            }
            Err(failure) => record.notes.push(format!(
                "counters of {} were not read: {}",
                form.text.name,
                legible(&failure.message)
            )),
        }
    }

    fn report(&self, step: String, done: usize, of: usize) {
        (self.progress)(QueryProgress { step, done: done as u64, of: of as u64 });
    }

    fn compare_rows(
        &self,
        session: &mut QuerySession<'_>,
        forms: [&SessionForm; 2],
        keys: &QueryKeys,
    ) -> RowsCheck {
        let plan = RowsPlan::new(keys, self.request.row_keys, self.stop, self.progress);
        check_rows(session, forms, &plan)
    }

    /// The tournament, and advice.
    fn try_others(
        &self,
        session: &mut QuerySession<'_>,
        forms: &[SessionForm],
        keys: &QueryKeys,
        record: &mut QueryRecord,
        is_copy: bool,
    ) {
        let Some(form) = forms.first() else { return };
        let plan = record.forms.first().and_then(|form| form.plan.clone());
        if let (true, Some(plan)) = (self.request.tournament, &plan) {
            let scene = TournamentScene {
                keys,
                seed: self.request.seed,
                time: Nanos(self.request.budget.0 / 4),
                margin: self.request.margin,
                is_raw: self.request.is_raw,
                stop: self.stop,
                progress: self.progress,
            };
            let held = tournament::hold(session, form, plan, &scene);
            record.notes.extend(tournament::open_rows(&held).map(str::to_owned));
            record.tournament = Some(held);
        }
        if self.request.advises || self.request.lint {
            let scene = trials::TrialScene {
                request: self.request,
                keys,
                is_copy,
                stop: self.stop,
                progress: self.progress,
            };
            record.advice = trials::advice(session, form, record, &scene);
        }
    }
}

/// The record with what follows from all of it.
fn finished(
    mut record: QueryRecord,
    request: &QueryRequest,
    session: &QuerySession<'_>,
) -> Result<QueryRecord, LabError> {
    if let Some(path) = &request.against {
        against::compare(&mut record, path)?;
    }
    record.expectations = expectations(&request.expectations, &record);
    record.target = QueryTarget {
        url: session.place.url(),
        version: session.title.clone(),
        copy_of: session.place.copy_of(),
        settings: session.settings.clone(),
    };
    Ok(record)
}

/// That not all was done which was asked for.
fn ended_note(stop: &RunStop) -> Option<String> {
    stop.is_set().then(|| {
        "the command was ended early: what it was doing has fewer executions, and what was to \
         follow is missing"
            .to_owned()
    })
}

/// CPU time by the executions that it was used for, in microseconds.
fn per_execution(cpu: Nanos, executed: u64) -> Option<f64> {
    (executed > 0).then(|| cpu.0 as f64 / 1000.0 / executed as f64)
}

/// Keys that were executed.
fn drawn(record: &QueryRecord) -> u64 {
    let single = record.forms.first().and_then(|form| form.times).map_or(0, |times| times.count);
    record.comparison.as_ref().map_or(single, |comparison| comparison.pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_that_the_command_was_ended() {
        let stop = RunStop::default();
        assert_eq!(ended_note(&stop), None);
        stop.at(now());
        assert!(ended_note(&stop).is_some_and(|note| note.contains("ended early")));
    }
}
