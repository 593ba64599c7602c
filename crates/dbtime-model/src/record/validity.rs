//! Whether a run's figures can be trusted, and what to do where they cannot.

use serde::{Deserialize, Serialize};

/// The verdict on a run's own figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validity {
    /// No warning is of a kind that makes the figures wrong.
    pub valid: bool,
    /// The driver's own lateness or CPU use could have made the result.
    pub client_limited: bool,
    /// What a reader should know, worst first.
    pub warnings: Vec<Warning>,
}

/// One thing a reader should know, with its remedy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// What was seen, with figures.
    pub text: String,
    /// What to do about it.
    pub remedy: String,
}

/// The kinds of warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Lag or the driver's CPU could have made the result.
    ClientLimited,
    /// Fewer transactions were completed than offered.
    RateMissed,
    /// More than 3 % of the response is unexplained.
    BudgetError,
    /// The mean of the measured transactions is off that of all by more than 3 %.
    BudgetMean,
    /// It is off by more than 10 %.
    BudgetMeanWrong,
    /// Measuring the parts makes transactions longer by more than 3 %, of a server by more than
    /// 5 %.
    Measuring,
    /// Other processes used the CPU.
    ForeignCpu,
    /// The hypervisor took CPU time away.
    Steal,
    /// The machine wakes sleepers late.
    Timer,
    /// The run was to be traced, and was not, or not to its end.
    Untraced,
    /// Statements were not matched with requests that the tracer saw.
    Unmatched,
    /// The file of statements lacks some, or could not be written.
    StatementsLost,
    /// The run ended before its time.
    EndedEarly,
    /// Too few transactions for the percentiles shown.
    FewSamples,
    /// The window is not of one steady state.
    NotSteady,
    /// Throughput times response is not the number of clients, by more than 5 %.
    Little,
    /// It is off by more than 20 %.
    LittleWrong,
    /// The counts do not add up: a bug.
    Counts,
    /// The target stood still, or could not be reached, for some time.
    Stall,
    /// The driver stood still for some time of the window.
    Standstill,
    /// Transactions failed.
    Errors,
    /// So many failed, or so few ended, that the latencies are not those of the workload.
    MostlyFailed,
    /// The share of an operation is off its weight.
    Mix,
    /// Think times are off what was asked for.
    Think,
    /// Closed connections held so many local ports that they bounded the rate of new ones.
    Ports,
    /// Something about the target, such as reads through mmap that cannot be timed.
    Target,
    /// Written by a version this one does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl WarningKind {
    /// Whether figures of a run with this warning may be wrong.
    pub fn invalidates(self) -> bool {
        matches!(
            self,
            Self::ClientLimited
                | Self::BudgetError
                | Self::BudgetMeanWrong
                | Self::Counts
                | Self::LittleWrong
                | Self::MostlyFailed
        )
    }
}

impl Validity {
    /// The warning that makes the figures doubtful; `None` where none does.
    pub fn culprit(&self) -> Option<&Warning> {
        let about = self.warnings.iter().find(|warning| warning.kind.invalidates());
        about.filter(|_| !self.valid || self.client_limited)
    }

    /// Why figures may be wrong; `None`: nothing was found.
    pub fn reason(&self) -> Option<String> {
        if self.valid && !self.client_limited {
            return None;
        }
        let why = self.culprit().map(|warning| &warning.text);
        Some(match (self.client_limited, why) {
            (true, Some(why)) => format!("client-limited: {why}"),
            (true, None) => {
                "client-limited: the driver, not the database, may have made the result".to_owned()
            }
            (false, Some(why)) => why.clone(),
            (false, None) => "the record does not vouch for its figures".to_owned(),
        })
    }

    /// A verdict from its warnings.
    pub fn from_warnings(warnings: Vec<Warning>) -> Self {
        let has = |test: fn(WarningKind) -> bool| warnings.iter().any(|w| test(w.kind));
        Self {
            valid: !has(WarningKind::invalidates),
            client_limited: has(|kind| kind == WarningKind::ClientLimited),
            warnings,
        }
    }
}
