//! The written form of a run in its record, of whatever version it is.

use crate::spec::RunSpec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The run as it can be made again. What was measured can be read without it;
/// [`crate::spec::SpecDocument`] says what is wrong with one that is not known.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedSpec {
    /// In the notation of this version.
    Known(Box<RunSpec>),
    /// With fields of a later version: it is written as it was read.
    Later {
        /// What this version knows of it.
        known: Box<RunSpec>,
        /// All of it.
        written: Value,
    },
    /// In another notation: it is written as it was read.
    Unknown(Value),
}

impl RecordedSpec {
    /// `None`: it is in a notation that this version does not know.
    pub fn known(&self) -> Option<&RunSpec> {
        match self {
            Self::Known(spec) | Self::Later { known: spec, .. } => Some(spec),
            Self::Unknown(_) => None,
        }
    }
}

impl From<RunSpec> for RecordedSpec {
    fn from(spec: RunSpec) -> Self {
        Self::Known(Box::new(spec))
    }
}

impl Serialize for RecordedSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(spec) => spec.serialize(to),
            Self::Later { written, .. } | Self::Unknown(written) => written.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for RecordedSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(from)?;
        let mut has_more = false;
        let read: Result<RunSpec, serde_json::Error> =
            serde_ignored::deserialize(&written, |_| has_more = true);
        Ok(match read {
            Ok(spec) if has_more => Self::Later { known: Box::new(spec), written },
            Ok(spec) => Self::from(spec),
            Err(_) => Self::Unknown(written),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::RunRecord;
    use crate::spec::Arrivals;

    fn record(text: &str) -> RunRecord {
        serde_json::from_str(text).expect("a record")
    }

    #[test]
    fn a_spec_with_a_notation_of_another_version_hides_no_figure() {
        let record = record(r#"{"throughput_tps":9.0,"spec":{"load":{"arrivals":"pareto:2"}}}"#);
        assert_eq!((record.throughput_tps, record.known_spec()), (9.0, None));
    }

    #[test]
    fn a_spec_of_this_version_is_read() {
        let text =
            r#"{"spec":{"load":{"arrivals":"poisson","later":1},"seed":18446744073709551615}}"#;
        let record = record(text);
        let spec = record.known_spec().expect("one that is known");
        assert_eq!((spec.load.arrivals, spec.seed), (Some(Arrivals::Poisson), u64::MAX));
    }

    #[test]
    fn a_record_that_is_written_again_has_its_spec_as_it_was() {
        for spec in [
            r#"{"load":{"arrivals":"pareto:2","later":[1.5,null]},"schema":9}"#,
            r#"{"load":{"arrivals":"poisson","later":[1.5,null]},"seed":7}"#,
            r#""some text""#,
            "null",
        ] {
            let written = serde_json::to_string(&record(&format!(r#"{{"spec":{spec}}}"#)));
            let expected = format!(r#""spec":{spec},"#);
            let written = written.expect("JSON");
            assert!(written.contains(&expected), "{written}");
            assert_eq!(record(&written), record(&format!(r#"{{"spec":{spec}}}"#)));
        }
        let known = r#"{"spec":{"load":{"arrivals":"poisson"},"seed":7}}"#;
        let written = serde_json::to_string(&record(known)).expect("JSON");
        assert_eq!(record(&written), record(known));
    }
}
