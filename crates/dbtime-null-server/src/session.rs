//! A client's conversation, whichever protocol it is in.

use crate::faults::FaultPlan;

/// What is done after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStep {
    GoOn,
    /// The same, and it was load.
    Load,
    Close,
}

/// What a session made of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReceiveResult {
    /// So many were whole.
    pub(crate) used: usize,
    /// The connection is to be closed once everything has been sent.
    pub(crate) closes: bool,
    /// There were statements among them that may be answered late.
    pub(crate) has_load: bool,
}

/// A conversation in one protocol.
pub(crate) trait ProtocolSession {
    /// Answers the message at the beginning of the input. Returns its length and what is done next;
    /// `None` where it is not whole yet.
    fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        plan: &FaultPlan,
    ) -> Option<(usize, SessionStep)>;

    /// Answers every message that is whole, up to one that closes the connection.
    #[inline]
    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>, plan: &FaultPlan) -> ReceiveResult {
        let mut taken = ReceiveResult::default();
        while let Some((length, step)) = self.step(&input[taken.used..], out, plan) {
            taken.used += length;
            taken.has_load |= step == SessionStep::Load;
            if step == SessionStep::Close {
                taken.closes = true;
                break;
            }
        }
        taken
    }
}
