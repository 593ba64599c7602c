//! The tracer beside a run, from before its first connection to the parts that it adds. A run that
//! cannot be traced goes on, and says so.

use crate::error::LabError;
use crate::observers::RunObserver;
use crate::request::RunRequest;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult};
use dbtime_model::Recorder;
use dbtime_model::record::{JoinCounts, TraceInfo, Warning, WarningKind};

/// Fewer matched statements than this are worth a warning. Unit: percent.
const MIN_MATCHED_PCT: f64 = 99.9;

/// A tracer of the server that is driven.
pub(crate) trait ServerTracer: RunObserver {
    /// Ends the watching.
    ///
    /// # Errors
    /// The tracer has ended before.
    fn finish(self: Box<Self>) -> Result<TraceObservation, LabError>;
}

/// What a tracer has seen of a run.
pub(crate) struct TraceObservation {
    /// The parts of transactions all of whose statements were matched; `None`: the load has not
    /// started.
    pub(crate) recorder: Option<Recorder>,
    /// For the record.
    pub(crate) info: TraceInfo,
}

/// The tracing of a run.
#[derive(Default)]
pub(crate) struct RunTrace {
    tracer: Option<Box<dyn ServerTracer>>,
    warnings: Vec<Warning>,
}

impl RunTrace {
    /// Begins to trace where the request has it so. To be called before the load connects, so that
    /// logins and the statements that are prepared are seen.
    pub(crate) fn begin(
        request: &RunRequest,
        plan: &LoadPlan,
        prepared: &dyn PreparedTarget,
    ) -> Self {
        if !request.trace {
            return Self::default();
        }
        match attach(plan, prepared) {
            Ok(tracer) => Self { tracer: Some(tracer), warnings: Vec::new() },
            Err(error) => Self { tracer: None, warnings: vec![untraced(&error)] },
        }
    }

    /// The tracer as an observer of the load.
    pub(crate) fn observer(&mut self) -> Option<&mut dyn RunObserver> {
        self.tracer.as_deref_mut().map(|tracer| tracer as &mut dyn RunObserver)
    }

    /// Puts the parts that the tracer saw in the place of those of the load, as far as there are
    /// any. Returns what the record has of the tracer, and what its readers must know.
    pub(crate) fn finish(mut self, driven: &mut LoadResult) -> (Option<TraceInfo>, Vec<Warning>) {
        let Some(tracer) = self.tracer else { return (None, self.warnings) };
        match tracer.finish() {
            Ok(TraceObservation { recorder, info }) => {
                self.warnings.extend(unmatched(&info.join));
                if let (Some(recorder), true) = (recorder, info.join.transactions > 0) {
                    driven.recorder.replace_parts(recorder);
                }
                (Some(info), self.warnings)
            }
            Err(error) => {
                self.warnings.push(untraced(&error));
                (None, self.warnings)
            }
        }
    }
}

#[cfg(feature = "trace")]
fn attach(
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
) -> Result<Box<dyn ServerTracer>, LabError> {
    let text = "there is no server process on this machine that could be traced";
    let server = prepared.server_pid().ok_or_else(|| LabError::Target(text.to_owned()))?;
    Ok(Box::new(crate::observers::RunTracer::attach(server, plan)?))
}

#[cfg(not(feature = "trace"))]
fn attach(_: &LoadPlan, _: &dyn PreparedTarget) -> Result<Box<dyn ServerTracer>, LabError> {
    Err(LabError::Target("this dbtime was built without its tracer".to_owned()))
}

fn untraced(error: &LabError) -> Warning {
    Warning {
        kind: WarningKind::Untraced,
        text: format!("not traced: {error}"),
        remedy: "what the server did stays one number, `server_and_wire`".to_owned(),
    }
}

fn unmatched(join: &JoinCounts) -> Option<Warning> {
    let pct = join.matched_pct().filter(|pct| *pct < MIN_MATCHED_PCT)?;
    Some(Warning {
        kind: WarningKind::Unmatched,
        text: format!(
            "{pct:.2} % of the statements were matched with requests that the tracer saw: {} \
             transactions are in the parts, {} are not",
            join.transactions, join.left_out
        ),
        remedy: "see `trace` in run.json for what the tracer lost".to_owned(),
    })
}
