//! Stacks of threads that serve requests.

use super::Capture;
use crate::kernel_layout::capture::CountsRow;
use crate::kernel_layout::numbers::COUNT_STACKS_LOST;
use crate::kernel_layout::read_record;
use crate::trace::error::TraceError;
use crate::trace::kernel::loading::{SAMPLER, map};
use crate::trace::kernel::refusal::kernel_error;
use crate::trace::kernel::sampling::CpuSampling;
use crate::trace::kernel::stack_records::stack;
use libbpf_rs::{MapCore, MapFlags};
use serde::{Deserialize, Serialize};

/// A stack, and where it was first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptStack {
    /// What requests call it.
    pub number: u64,
    /// The first process that had it.
    pub process: u32,
    /// The innermost first; callers return to theirs.
    pub addresses: Vec<u64>,
}

/// All stacks that there have been.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackTable {
    /// Each once.
    pub stacks: Vec<KeptStack>,
    /// What CPUs are sampled by; `None`: they are not.
    pub sampling: Option<CpuSampling>,
    /// Stacks, waits and samples for which the kernel's side had no room.
    pub lost: u64,
}

impl Capture {
    /// Has CPUs sampled, where the kernel can.
    pub(super) fn sample_cpus(&mut self) {
        if self.probes.refused.contains_key(SAMPLER) {
            return;
        }
        match self.helper.sample_cpus() {
            Ok(sampling) => self.sampling = Some(sampling),
            Err(why) => {
                self.probes.unavailable.push(("stacks on a CPU", why.to_string()));
            }
        }
    }

    /// All stacks that there have been so far; without [`CaptureConfig::stacks`] there are none.
    ///
    /// [`CaptureConfig::stacks`]: crate::trace::CaptureConfig::stacks
    ///
    /// # Errors
    /// They cannot be read.
    pub fn stacks(&self) -> Result<StackTable, TraceError> {
        let table = map(&self.object, "stacks")?;
        let mut stacks = Vec::new();
        for key in table.keys() {
            let row = table.lookup(&key, MapFlags::ANY).map_err(kernel_error)?;
            let read = row.as_deref().and_then(stack).zip(read_record(&key));
            let kept = |((process, addresses), number)| KeptStack { number, process, addresses };
            stacks.extend(read.map(kept));
        }
        let processors = self.processors()?;
        let counts = processors.iter().filter_map(|row| read_record::<CountsRow>(row));
        let lost = counts.map(|row| row.count[COUNT_STACKS_LOST]).sum();
        Ok(StackTable { stacks, sampling: self.sampling.clone(), lost })
    }
}
