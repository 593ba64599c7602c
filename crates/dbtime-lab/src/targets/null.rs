//! `null`: nothing behind the driver.

use super::{Dataset, PreparedTarget, ProgressListener, TargetFacts, TargetKind};
use crate::counters::CounterSampler;
use crate::drive::BEFORE_WINDOW;
use crate::error::LabError;
use crate::request::RunRequest;
use dbtime_engines::databases::null::{self, NullTarget};
use dbtime_engines::drive::observer::LoadObserver;
use dbtime_engines::drive::plan::{LoadPlan, LoadResult, RunStop};
use dbtime_engines::drive::shard::DriveError;
use dbtime_model::record::TargetInfo;
use dbtime_sql::LexicalRules;

/// The driver itself is measured.
#[derive(Clone, Debug)]
pub(super) struct NullTargetKind {
    target: NullTarget,
    url: String,
}

struct ReadyNull {
    null: NullTargetKind,
    scale: u64,
}

impl NullTargetKind {
    pub(super) fn parse(text: &str) -> Result<Self, LabError> {
        let target = text
            .parse()
            .map_err(|error: null::NullTargetError| LabError::Usage(error.to_string()))?;
        Ok(Self { target, url: text.to_owned() })
    }
}

impl TargetKind for NullTargetKind {
    fn prepare(
        &self,
        request: &RunRequest,
        _: ProgressListener<'_>,
        _: &RunStop,
    ) -> Result<Box<dyn PreparedTarget>, LabError> {
        let scale = request.spec.workload.scale.unwrap_or(1);
        Ok(Box::new(ReadyNull { null: self.clone(), scale }))
    }

    fn has_shards(&self) -> bool {
        true
    }

    fn sampler(&self) -> Result<Box<dyn CounterSampler>, LabError> {
        Err(LabError::Usage("null counts nothing: there are no counters to show".to_owned()))
    }

    fn init(
        &self,
        _: &Dataset<'_>,
        _: ProgressListener<'_>,
        _: &RunStop,
    ) -> Result<String, LabError> {
        Err(LabError::Usage("null holds no data: there is nothing to init".to_owned()))
    }
}

impl PreparedTarget for ReadyNull {
    fn scale(&self) -> u64 {
        self.scale
    }

    fn drive(
        &self,
        plan: &LoadPlan,
        observer: &dyn LoadObserver,
        stop: &RunStop,
    ) -> Result<LoadResult, LabError> {
        let driven = null::drive(plan, self.null.target, observer, stop);
        driven.map_err(|error| match error {
            DriveError::Script(error) => LabError::Script(error),
            DriveError::Stopped if stop.is_set() => LabError::Interrupted(BEFORE_WINDOW),
            error => LabError::Target(error.to_string()),
        })
    }

    fn facts(&self, _: &LoadPlan, _: &RunStop) -> Result<TargetFacts, LabError> {
        let target = TargetInfo {
            engine: "null".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            url: self.null.url.clone(),
            ..TargetInfo::default()
        };
        Ok(TargetFacts { target, ..TargetFacts::default() })
    }

    fn lexical_rules(&self) -> LexicalRules {
        LexicalRules::of_protocol(None)
    }

    fn is_sharded(&self) -> bool {
        true
    }
}
