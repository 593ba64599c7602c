//! Probes that are there only while they are needed: each hit costs a trap, most of a microsecond,
//! at every execution of a statement.

use super::attacher::ProbeAttacher;
use crate::trace::error::TraceError;
use crate::trace::kernel::loading::LoadRefusal;
use crate::trace::kernel::probe_sites::{ProbeGroup, ProbeSites};
use crate::trace::privilege::helper::HelperProcess;
use std::fs::File;
use std::time::{Duration, Instant};

/// The probes go when they have not been needed for so long; twice as long each time that they are
/// needed again, so that they are there when a statement comes that seldom does.
const DETACH_AFTER: Duration = Duration::from_secs(10);
/// As long as dbtime is likely to watch.
const MAX_DETACH_AFTER: Duration = Duration::from_secs(86_400);

/// A place in a server whose probe shows texts or portals.
#[derive(Debug)]
pub(crate) struct TextProbeSite {
    /// Its program file, which others may run when this server has ended.
    file: File,
    /// The kernel's program that runs there.
    pub(crate) program: &'static str,
    /// In the file.
    pub(super) offset: usize,
    /// Passed to the program at each hit.
    cookie: u64,
}

impl TextProbeSite {
    /// A place in a program file.
    ///
    /// # Errors
    /// The system has no file for it, for people.
    pub(crate) fn new(
        file: &File,
        program: &'static str,
        offset: usize,
        cookie: u64,
    ) -> Result<Self, String> {
        let file = file.try_clone().map_err(|error| error.to_string())?;
        Ok(Self { file, program, offset, cookie })
    }
}

/// The probes, while they are there.
pub(crate) struct DemandProbes {
    group: ProbeGroup,
    sites: Vec<TextProbeSite>,
    is_attached: bool,
    need: ProbeNeed,
}

struct ProbeNeed {
    /// How often that has been seen.
    cases: u64,
    since: Option<Instant>,
    detach_after: Duration,
}

impl ProbeNeed {
    /// With `is_likely` they are needed from the beginning.
    fn new(is_likely: bool, now: Instant) -> Self {
        Self { cases: 0, since: is_likely.then_some(now), detach_after: DETACH_AFTER }
    }

    /// Whether they are needed now.
    fn is_needed(&mut self, cases: u64, now: Instant) -> bool {
        let was_detached = self.since.is_some_and(|since| now - since >= self.detach_after);
        if cases > self.cases {
            if was_detached {
                self.detach_after = (2 * self.detach_after).min(MAX_DETACH_AFTER);
            }
            (self.cases, self.since) = (cases, Some(now));
        }
        self.since.is_some_and(|since| now - since < self.detach_after)
    }
}

impl DemandProbes {
    /// Those of a group, which go together; at once, where it is likely that they are needed.
    pub(crate) fn new(group: ProbeGroup, is_likely: bool) -> Self {
        let need = ProbeNeed::new(is_likely, Instant::now());
        Self { group, sites: Vec::new(), is_attached: false, need }
    }

    /// Sites of a further server.
    ///
    /// # Errors
    /// There is no helper.
    pub(crate) fn add(
        &mut self,
        helper: &mut HelperProcess,
        sites: impl Iterator<Item = TextProbeSite>,
    ) -> Result<(), TraceError> {
        let before = self.sites.len();
        self.sites.extend(sites);
        // With the next that is needed they are all there again.
        if self.sites.len() > before { self.detach(helper) } else { Ok(()) }
    }

    /// Attaches or detaches; `cases` is how often they were needed, or would have been.
    ///
    /// # Errors
    /// The probes cannot be attached, for people.
    pub(crate) fn poll(
        &mut self,
        helper: &mut HelperProcess,
        refused: &LoadRefusal,
        cases: u64,
    ) -> Result<(), String> {
        if !self.need.is_needed(cases, Instant::now()) {
            self.detach(helper).map_err(|error| error.to_string())
        } else if self.is_attached {
            Ok(())
        } else {
            self.attach(helper, refused)
        }
    }

    /// Detaches them for good.
    ///
    /// # Errors
    /// There is no helper.
    pub(crate) fn disable(&mut self, helper: &mut HelperProcess) -> Result<(), TraceError> {
        self.sites.clear();
        self.detach(helper)
    }

    fn detach(&mut self, helper: &mut HelperProcess) -> Result<(), TraceError> {
        match std::mem::take(&mut self.is_attached) {
            true => helper.detach_probes(self.group),
            false => Ok(()),
        }
    }

    fn attach(&mut self, helper: &mut HelperProcess, refused: &LoadRefusal) -> Result<(), String> {
        for TextProbeSite { file, program, offset, cookie } in &self.sites {
            self.is_attached = true;
            let places = ProbeSites {
                offsets: vec![*offset],
                cookies: vec![*cookie],
                group: self.group,
                ..ProbeSites::default()
            };
            ProbeAttacher { helper, file, refused }.attach(program, places)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_needed_again_stays_longer() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut need = ProbeNeed::new(true, start);
        assert!(need.is_needed(0, after(9)) && !need.is_needed(0, after(10)));
        // Each of them may come twice a minute.
        assert!(need.is_needed(1, after(30)) && need.is_needed(1, after(49)));
        assert!(!need.is_needed(1, after(50)) && need.is_needed(2, after(60)));
        assert!(need.is_needed(3, after(90)) && need.is_needed(3, after(129)));
        assert!(!need.is_needed(3, after(130)));
        assert!(!ProbeNeed::new(false, start).is_needed(0, after(1)));
    }
}
