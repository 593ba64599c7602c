//! Keys as an operation of a workload draws them.

use super::dictionary::refused;
use super::request::KeyDictionary;
use super::value_rows::ValueRows;
use crate::error::LabError;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::{OperationDraws, Workload};
use dbtime_model::near_names::hint;

/// So many keys are drawn to know what stands at their edges.
const SAMPLED: u64 = 1000;

/// The keys of one operation that parameters are named after.
#[derive(Debug)]
pub(super) struct WorkloadKeys {
    draws: OperationDraws,
    /// For each parameter where its key is among those that are drawn.
    places: Vec<usize>,
    sample: ValueRows,
    /// Where they come from, in words.
    source: String,
}

impl WorkloadKeys {
    /// Reads `shop.toml#checkout:scale=10`, what stands behind `workload:`.
    ///
    /// # Errors
    /// The workload cannot be read, makes no sense at its scale, or has no such operation or key.
    pub(super) fn read(given: &KeyDictionary, text: &str, seed: u64) -> Result<Self, LabError> {
        let (text, scale) = match text.rsplit_once(":scale=") {
            Some((text, scale)) => (text, scale.parse().ok()),
            None => (text, Some(1)),
        };
        let scale = scale.ok_or_else(|| refused(given, "write its scale as :scale=10"))?;
        let (file, name) = match text.split_once('#') {
            Some((file, name)) => (file, Some(name)),
            None => (text, None),
        };
        let workload = Workload::find(file).and_then(|found| {
            found.check_scale(scale)?;
            Ok(found)
        });
        let workload = workload.map_err(|error| refused(given, &error.to_string()))?;
        let operation = operation_of(given, &workload, name)?;
        let draws = workload.operation_draws(operation, scale, seed);
        let operation = &workload.operations[operation].name;
        let place = |name: &String| {
            draws.place(name).ok_or_else(|| {
                let near = hint(name, draws.names());
                let text = format!("operation `{operation}` draws no key `{name}`{near}");
                refused(given, &text)
            })
        };
        let places: Result<Vec<usize>, LabError> = given.parameters.iter().map(place).collect();
        let places = places?;
        let sample = (0..SAMPLED).flat_map(|n| chosen(&draws, &places, n)).collect();
        let sample = ValueRows::of_values(sample, places.len());
        let source = format!("operation {operation} of workload {file}");
        Ok(Self { draws, places, sample, source })
    }

    /// The values of draw `n`, one for each parameter.
    pub(super) fn draw(&self, n: u64) -> Vec<SqlValue> {
        chosen(&self.draws, &self.places, n)
    }

    /// Some of the keys.
    pub(super) fn sample(&self) -> &ValueRows {
        &self.sample
    }

    /// Where they come from, in words without literals.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// The values of a draw that parameters have.
fn chosen(draws: &OperationDraws, places: &[usize], n: u64) -> Vec<SqlValue> {
    let values = draws.draw(n);
    places.iter().map(|place| values[*place].clone()).collect()
}

/// The place of the operation with a name, or of the only one.
fn operation_of(
    given: &KeyDictionary,
    workload: &Workload,
    name: Option<&str>,
) -> Result<usize, LabError> {
    let names = || workload.operations.iter().map(|operation| operation.name.as_str());
    let Some(name) = name else {
        return match workload.operations.as_slice() {
            [_] => Ok(0),
            _ => {
                let names: Vec<&str> = names().collect();
                let names = names.join(", ");
                let text = format!("name one of its operations behind a #: {names}");
                Err(refused(given, &text))
            }
        };
    };
    names().position(|known| known == name).ok_or_else(|| {
        let near = hint(name, names());
        refused(given, &format!("the workload has no operation `{name}`{near}"))
    })
}
