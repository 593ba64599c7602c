//! Probes that are there only while they are needed: each hit costs a trap, most of a microsecond,
//! at every execution of a statement.

use super::listener::ProbeAttacher;
use crate::trace::TraceError;
use crate::trace::kernel::loading::LoadRefusal;
use crate::trace::privilege::helper::{Helper, ProbeGroup, ProbeSites};
use std::fs::File;
use std::time::{Duration, Instant};

/// The probes go when they have not been needed for so long; twice as long each time that they are
/// needed again, so that they are there when a statement comes that seldom does.
const PATIENCE: Duration = Duration::from_secs(10);
/// As long as dbtime is likely to watch.
const MOST_PATIENCE: Duration = Duration::from_secs(86_400);

/// Where a server tells.
#[derive(Debug)]
pub(crate) struct TextProbeSite {
    /// Its program file, which others may run when this server has ended.
    file: File,
    /// The kernel's program that listens.
    pub(crate) listener: &'static str,
    /// In the file.
    pub(super) offset: usize,
    /// What the listener has to know.
    cookie: u64,
}

impl TextProbeSite {
    /// A place in a program file.
    ///
    /// # Errors
    /// The system has no file for it, for people.
    pub(crate) fn new(
        file: &File,
        listener: &'static str,
        offset: usize,
        cookie: u64,
    ) -> Result<Self, String> {
        let file = file.try_clone().map_err(|error| error.to_string())?;
        Ok(Self { file, listener, offset, cookie })
    }
}

/// The probes, while they are there.
pub(crate) struct DemandProbes {
    group: ProbeGroup,
    tellers: Vec<TextProbeSite>,
    is_listening: bool,
    need: ProbeNeed,
}

/// Whether they are needed.
struct ProbeNeed {
    /// How often that has been seen.
    cases: u64,
    since: Option<Instant>,
    patience: Duration,
}

impl ProbeNeed {
    /// It may be there from the beginning.
    fn new(is_likely: bool, now: Instant) -> Self {
        Self { cases: 0, since: is_likely.then_some(now), patience: PATIENCE }
    }

    /// Whether it is there now.
    fn is_there(&mut self, cases: u64, now: Instant) -> bool {
        let has_gone = self.since.is_some_and(|since| now - since >= self.patience);
        if cases > self.cases {
            if has_gone {
                self.patience = (2 * self.patience).min(MOST_PATIENCE);
            }
            (self.cases, self.since) = (cases, Some(now));
        }
        self.since.is_some_and(|since| now - since < self.patience)
    }
}

impl DemandProbes {
    /// Those of a group, which go together; at once, where it is likely that they are needed.
    pub(crate) fn new(group: ProbeGroup, is_likely: bool) -> Self {
        let need = ProbeNeed::new(is_likely, Instant::now());
        Self { group, tellers: Vec::new(), is_listening: false, need }
    }

    /// Further servers tell.
    ///
    /// # Errors
    /// There is no helper.
    pub(crate) fn add(
        &mut self,
        helper: &mut Helper,
        tellers: impl Iterator<Item = TextProbeSite>,
    ) -> Result<(), TraceError> {
        let before = self.tellers.len();
        self.tellers.extend(tellers);
        // With the next that is needed they are all there again.
        if self.tellers.len() > before { self.cease(helper) } else { Ok(()) }
    }

    /// Listens or ceases to; `cases` is how often they were needed, or would have been.
    ///
    /// # Errors
    /// The probes cannot be attached, for people.
    pub(crate) fn tend(
        &mut self,
        helper: &mut Helper,
        refused: &LoadRefusal,
        cases: u64,
    ) -> Result<(), String> {
        if !self.need.is_there(cases, Instant::now()) {
            self.cease(helper).map_err(|error| error.to_string())
        } else if self.is_listening {
            Ok(())
        } else {
            self.listen(helper, refused)
        }
    }

    /// Gives it up.
    ///
    /// # Errors
    /// There is no helper.
    pub(crate) fn give_up(&mut self, helper: &mut Helper) -> Result<(), TraceError> {
        self.tellers.clear();
        self.cease(helper)
    }

    /// Listens no more.
    fn cease(&mut self, helper: &mut Helper) -> Result<(), TraceError> {
        match std::mem::take(&mut self.is_listening) {
            true => helper.cease(self.group),
            false => Ok(()),
        }
    }

    fn listen(&mut self, helper: &mut Helper, refused: &LoadRefusal) -> Result<(), String> {
        for TextProbeSite { file, listener, offset, cookie } in &self.tellers {
            self.is_listening = true;
            let places = ProbeSites {
                offsets: vec![*offset],
                cookies: vec![*cookie],
                group: self.group,
                ..ProbeSites::default()
            };
            ProbeAttacher { helper, file, refused }.attach(listener, places)?;
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
        assert!(need.is_there(0, after(9)) && !need.is_there(0, after(10)));
        // Each of them may come twice a minute.
        assert!(need.is_there(1, after(30)) && need.is_there(1, after(49)));
        assert!(!need.is_there(1, after(50)) && need.is_there(2, after(60)));
        assert!(need.is_there(3, after(90)) && need.is_there(3, after(129)));
        assert!(!need.is_there(3, after(130)));
        assert!(!ProbeNeed::new(false, start).is_there(0, after(1)));
    }
}
