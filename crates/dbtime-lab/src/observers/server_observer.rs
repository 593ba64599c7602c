//! What a server has spent and counted over the measured window.

use super::{RunObserver, WindowEdges};
use crate::counters::CounterSampler;
use crate::second_sampler::SecondSampler;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_model::counters::CounterSample;
use dbtime_model::process::ServerSample;
use dbtime_model::record::{SampledCounter, ServerSecond};
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use dbtime_observe::block_device::{BlockDevice, DeviceSample};
use dbtime_observe::process::{ServerGlance, ServerWatch};
use std::time::Duration;

/// Samples a server and its device at both ends of the window, and its CPU time and a few counters
/// every second. Of a server that cannot be seen nothing is known.
pub(crate) struct ServerObserver<'a> {
    plan: &'a LoadPlan,
    prepared: &'a dyn PreparedTarget,
    watch: Option<ServerWatch>,
    device: Option<BlockDevice>,
    sampler: Option<Box<dyn CounterSampler>>,
    second_sampler: Option<SecondSampler>,
    start: Option<MonoNanos>,
    seen: ServerObservation,
}

/// What a server spent and counted.
#[derive(Default)]
pub(crate) struct ServerObservation {
    /// What its processes have spent.
    pub(crate) samples: WindowEdges<ServerSample>,
    /// Its counters.
    pub(crate) counted: WindowEdges<CounterSample>,
    /// What the device under its data has served.
    pub(crate) served: WindowEdges<DeviceSample>,
    /// Its CPU time at the start, at each full second of the load, and at its end.
    pub(crate) glances: Vec<Option<ServerGlance>>,
    /// A few of its counters over the load.
    pub(crate) sampled: SampledSeconds,
    /// Its processes when nobody was connected any more.
    pub(crate) idle: Option<ServerSample>,
}

/// Counters with their samples, which have a value for each.
pub(crate) type SampledSeconds = (Vec<SampledCounter>, Vec<ServerSecond>);

/// How long the last sample is waited for when the load has ended.
const LAST_SAMPLE: Nanos = Nanos::from_millis(200);

/// How long after the end of its last connection a server is looked at.
const GIVE_BACK_TIME: Duration = Duration::from_millis(500);

impl<'a> ServerObserver<'a> {
    /// An observer of the server behind a target, if there is one on this machine.
    pub(crate) fn new(plan: &'a LoadPlan, prepared: &'a dyn PreparedTarget) -> Self {
        let pid = prepared.server_pid();
        let watch = pid.and_then(|pid| ServerWatch::new(pid).ok());
        Self {
            plan,
            prepared,
            watch,
            device: pid.and_then(BlockDevice::under_server),
            sampler: None,
            second_sampler: None,
            start: None,
            seen: ServerObservation::default(),
        }
    }

    /// Looks at a server that was started for the run once more: when it has had the time to give
    /// memory back.
    pub(crate) fn look_when_idle(&mut self) {
        if self.prepared.is_fresh() && self.watch.is_some() {
            std::thread::sleep(GIVE_BACK_TIME);
            self.seen.idle = self.sample_processes();
        }
    }

    /// What was seen.
    pub(crate) fn into_observation(self) -> ServerObservation {
        self.seen
    }

    /// The window begins. Counting costs the server CPU time that is kept out of the window.
    fn window_begins(&mut self) {
        if self.seen.samples.began.is_none() {
            self.seen.counted.began = self.count();
            self.seen.samples.began = self.sample_processes();
            self.seen.served.began = self.sample_device();
        }
    }

    /// The window ended at `at`. Sessions of PostgreSQL publish what they counted at the latest
    /// when they end: what a load has counted that ended before its window is known only then.
    fn window_ended(&mut self, at: MonoNanos) {
        self.seen.samples.ended = self.sample_processes();
        self.seen.served.ended = self.sample_device();
        let planned = self.start.map(|start| self.plan.window(start).end);
        if planned.is_some_and(|end| at >= end) {
            self.seen.counted.ended = self.count();
        }
    }

    fn sample_processes(&mut self) -> Option<ServerSample> {
        self.watch.as_mut()?.sample().ok()
    }

    fn sample_device(&self) -> Option<DeviceSample> {
        self.device.as_ref()?.sample()
    }

    fn count(&mut self) -> Option<CounterSample> {
        self.sampler.as_mut()?.sample().ok()
    }

    fn glance(&mut self) {
        let glance = self.watch.as_mut().and_then(|watch| watch.glance().ok());
        self.seen.glances.push(glance);
        if let Some(sampler) = &mut self.second_sampler {
            sampler.begin();
        }
    }

    fn next_glance(&self) -> Option<MonoNanos> {
        Some(self.start? + Nanos::from_secs(self.seen.glances.len() as u64))
    }

    fn load_ended(&mut self, at: MonoNanos) {
        self.glance();
        if let Some((sampler, start)) = self.second_sampler.take().zip(self.start) {
            self.seen.sampled = sampler.finish(start, at + LAST_SAMPLE);
        }
        self.start = None;
    }
}

impl RunObserver for ServerObserver<'_> {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        match phase {
            RunPhase::Prepared => {}
            RunPhase::Connected => {
                // Only now, so as to take no connection from the load.
                self.sampler = self.prepared.sampler();
                self.second_sampler = self.prepared.second_sampler();
                if self.plan.warmup == Nanos::ZERO {
                    self.window_begins();
                }
            }
            RunPhase::Started => {
                self.start = Some(at);
                self.glance();
            }
            RunPhase::WindowBegan => self.window_begins(),
            RunPhase::WindowEnded => self.window_ended(at),
            RunPhase::LoadEnded => self.load_ended(at),
            RunPhase::Disconnected => {
                if self.seen.counted.ended.is_none() {
                    self.seen.counted.ended = self.count();
                }
            }
        }
    }

    fn next_tick(&self) -> Option<MonoNanos> {
        let look = self.second_sampler.as_ref().and_then(SecondSampler::next_look);
        self.next_glance().into_iter().chain(look.filter(|_| self.start.is_some())).min()
    }

    fn tick(&mut self, present: MonoNanos) {
        if let Some(sampler) = &mut self.second_sampler
            && sampler.next_look().is_some_and(|look| present >= look)
        {
            sampler.look(present);
        }
        if self.next_glance().is_some_and(|glance| present >= glance) {
            self.glance();
        }
    }
}
