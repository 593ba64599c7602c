//! Whether a run's figures can be trusted, and what to do where they cannot.

use serde::{Deserialize, Serialize};

/// The verdict on a run's own figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validity {
    /// How far the figures can be trusted; of several findings the worst counts.
    pub grade: Option<ValidityGrade>,
    /// Why they are not sound, worst first.
    pub reasons: Vec<GradeReason>,
    /// Whether no warning makes the figures wrong.
    pub valid: bool,
    /// Whether the driver's lateness or CPU use could have made the result.
    pub client_limited: bool,
    /// Worst first.
    pub warnings: Vec<Warning>,
}

/// How far the figures of a run can be trusted; of several findings the worst counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidityGrade {
    /// Nothing was found against them.
    Sound,
    /// As measured; a quiet machine, or one that serves all clients, could have given others.
    Noisy,
    /// They may be wrong.
    Invalid,
}

/// A reason against `sound`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GradeReason {
    /// Its warning.
    pub kind: WarningKind,
    /// The share found; `None` where any is too much.
    pub share_pct: Option<f64>,
    /// The largest share that changes no grade.
    pub threshold_pct: Option<f64>,
}

/// A warning, with its remedy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Warning {
    /// Its subject.
    pub kind: WarningKind,
    /// What was seen, with figures.
    pub text: String,
    /// The remedy.
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
    /// A number of transactions ends the run, and clients had none left for more than 20 % of their
    /// time.
    FewAtWork,
    /// The counts do not add up: a bug.
    Counts,
    /// The target stood still, or could not be reached, for some time.
    Stall,
    /// The driver stood still for some time of the window.
    Standstill,
    /// For so much of it that more than 5 % of the throughput may be missing.
    StandstillWrong,
    /// A CPU quota held the driver back.
    Throttled,
    /// Transactions were outstanding through the whole window.
    Outstanding,
    /// So many that the latencies are not those of the workload.
    OutstandingWrong,
    /// Transactions that began within the window never ended.
    Unfinished,
    /// Connections that the load was to have could not be made.
    FewConnections,
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
    /// What a warning of this kind makes of a run.
    pub fn grade(self) -> ValidityGrade {
        match self {
            Self::ClientLimited
            | Self::BudgetError
            | Self::BudgetMeanWrong
            | Self::Counts
            | Self::LittleWrong
            | Self::MostlyFailed
            | Self::OutstandingWrong
            | Self::StandstillWrong => ValidityGrade::Invalid,
            Self::ForeignCpu
            | Self::Steal
            | Self::Throttled
            | Self::Standstill
            | Self::Outstanding
            | Self::Unfinished
            | Self::FewConnections
            | Self::FewAtWork => ValidityGrade::Noisy,
            _ => ValidityGrade::Sound,
        }
    }

    /// Whether figures of a run with this warning may be wrong.
    pub fn invalidates(self) -> bool {
        self.grade() == ValidityGrade::Invalid
    }
}

impl Validity {
    /// How far the figures can be trusted, of a record of before by its warnings.
    pub fn grade(&self) -> ValidityGrade {
        if !self.valid || self.client_limited {
            return ValidityGrade::Invalid;
        }
        self.grade.unwrap_or_else(|| worst(&self.warnings))
    }

    /// The first warning that makes the run noisy, where nothing worse was found.
    pub fn noise(&self) -> Option<&Warning> {
        let noisy = ValidityGrade::Noisy;
        let first = self.warnings.iter().find(|one| one.kind.grade() == noisy);
        first.filter(|_| self.grade() == noisy)
    }

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
        let why = self.culprit().map_or_else(|| self.without_warning(), |one| one.text.as_str());
        Some(if self.is_of_the_driver() {
            format!("client-limited: {why}")
        } else {
            why.to_owned()
        })
    }

    /// Whether it is the driver that makes the figures doubtful, and nothing worse.
    pub fn is_of_the_driver(&self) -> bool {
        let culprit = self.culprit().map(|warning| warning.kind);
        self.client_limited && culprit.is_none_or(|kind| kind == WarningKind::ClientLimited)
    }

    /// What a record says that has no warning for it.
    fn without_warning(&self) -> &'static str {
        match self.client_limited {
            true => "the driver, not the database, may have made the result",
            false => "the record does not vouch for its figures",
        }
    }

    /// A verdict from its warnings.
    pub fn from_warnings(warnings: Vec<Warning>) -> Self {
        let grade = worst(&warnings);
        let is_late = |one: &Warning| one.kind == WarningKind::ClientLimited;
        Self {
            grade: Some(grade),
            reasons: Vec::new(),
            valid: grade != ValidityGrade::Invalid,
            client_limited: warnings.iter().any(is_late),
            warnings,
        }
    }
}

/// What all warnings together make of a run.
fn worst(warnings: &[Warning]) -> ValidityGrade {
    warnings.iter().map(|one| one.kind.grade()).max().unwrap_or(ValidityGrade::Sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(kinds: &[WarningKind]) -> Validity {
        let of = |kind: &WarningKind| Warning { kind: *kind, ..Warning::default() };
        Validity::from_warnings(kinds.iter().map(of).collect())
    }

    #[test]
    fn the_worst_finding_is_the_grade() {
        use WarningKind as Kind;
        let sound = with(&[Kind::Errors, Kind::Stall]);
        assert_eq!((sound.grade(), sound.noise()), (ValidityGrade::Sound, None));
        let noisy = with(&[Kind::Stall, Kind::ForeignCpu]);
        assert_eq!((noisy.grade(), noisy.valid), (ValidityGrade::Noisy, true));
        assert_eq!(noisy.noise().expect("why").kind, Kind::ForeignCpu);
        let invalid = with(&[Kind::Steal, Kind::ClientLimited]);
        assert_eq!((invalid.grade(), invalid.valid), (ValidityGrade::Invalid, false));
        assert_eq!(invalid.noise(), None, "something worse is told");
    }

    #[test]
    fn the_label_is_that_of_the_warning_whose_text_follows() {
        use WarningKind as Kind;
        let of = |kinds: &[Kind]| {
            let mut validity = with(kinds);
            for warning in &mut validity.warnings {
                warning.text = format!("{:?}", warning.kind);
            }
            (validity.reason(), validity.is_of_the_driver())
        };
        let label = |text: &str| Some(text.to_owned());
        let late = label("client-limited: ClientLimited");
        assert_eq!(of(&[Kind::ClientLimited, Kind::LittleWrong]), (late, true));
        let served = of(&[Kind::OutstandingWrong, Kind::ClientLimited]);
        assert_eq!(served, (label("OutstandingWrong"), false));
        assert_eq!(of(&[Kind::Steal]), (None, false));
        let bare = Validity { client_limited: true, ..Validity::default() };
        let reason = bare.reason().expect("a record of before may have no warning");
        assert!(reason.starts_with("client-limited: the driver, not"), "{reason}");
    }

    #[test]
    fn a_record_of_before_is_graded_by_its_warnings() {
        let text = r#"{"valid":true,"warnings":[{"kind":"steal","text":"","remedy":""}]}"#;
        let read: Validity = serde_json::from_str(text).expect("an old record");
        assert_eq!((read.grade, read.grade()), (None, ValidityGrade::Noisy));
        assert_eq!(Validity::default().grade(), ValidityGrade::Invalid, "it vouches for nothing");
    }
}
