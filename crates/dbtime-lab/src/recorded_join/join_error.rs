//! Why a run and a recording cannot be joined.

use dbtime_model::Nanos;
use dbtime_model::driven_file::DrivenFileError;
use dbtime_model::record::{ReadError, file};
use dbtime_model::traced_file::TraceFileError;
use std::path::PathBuf;

/// Why a run and a recording cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The run's record cannot be read.
    #[error(transparent)]
    Record(ReadError),
    /// The run did not keep the driver's side.
    #[error("{} has no {}, the driver's side of its statements: run it again with --statements",
            folder.display(), file::DRIVEN)]
    NoStatements {
        /// The record.
        folder: PathBuf,
    },
    /// There is nothing that a join could add.
    #[error("{} was traced while it ran: it has all parts already", folder.display())]
    WasTraced {
        /// The record.
        folder: PathBuf,
    },
    /// It was done before.
    #[error("{} is joined already, with a recording that began at {began}: --force joins it again",
            folder.display())]
    IsJoined {
        /// The record.
        folder: PathBuf,
        /// By the clock on the wall of the recording's host.
        began: String,
    },
    /// The driver's side cannot be read.
    #[error("{}: {source}", path.display())]
    Driven {
        /// Its file.
        path: PathBuf,
        /// Why not.
        source: DrivenFileError,
    },
    /// The recording cannot be read.
    #[error("{}: {source}", path.display())]
    Recording {
        /// Its file.
        path: PathBuf,
        /// Why not.
        source: TraceFileError,
    },
    /// Nothing was recorded.
    #[error("{} holds no statement: record the server that is driven, from before the run until \
             after it", recording.display())]
    NoRequests {
        /// Its file.
        recording: PathBuf,
    },
    /// The recording is of other clients.
    #[error(
        "none of the run's {run} connections is among the {recorded} of the recording \
             (watched: {watched}): record the server that the run drives, while it does; where \
             addresses are translated on the way to it (NAT, a proxy), or connections go by a \
             Unix socket, two hosts cannot be joined"
    )]
    NoCommonConnection {
        /// How many connections the run had.
        run: usize,
        /// How many are in the recording.
        recorded: usize,
        /// What was watched, for people.
        watched: String,
    },
    /// On one clock they lie apart.
    #[error("the recording {} of the run: record from before it until after it",
            if *.is_before { format!("ends {apart} before the first statement") }
            else { format!("begins {apart} after the last statement") })]
    NoOverlap {
        /// Whether the recording is the earlier one.
        is_before: bool,
        /// How long there is between them.
        apart: Nanos,
    },
    /// On two clocks they cannot be laid over one another.
    #[error("the run's statements do not fit those in {} by any offset of the two clocks: it is \
             not of this run, or lacks more than one statement in sixteen (`dbtime trace {} \
             --summary` says what was lost)", recording.display(), recording.display())]
    FitsNowhere {
        /// Its file.
        recording: PathBuf,
    },
    /// Which statement is which would be a guess.
    #[error("the run's statements fit those in {} by several offsets of the two clocks: they are \
             too few or too regular; run for longer, over several connections, or at a --rate \
             with --arrivals poisson", recording.display())]
    FitsSeveral {
        /// Its file.
        recording: PathBuf,
    },
    /// No statement found a request.
    #[error(
        "no statement of the run was found in the recording: record from before the run until \
             after it"
    )]
    NothingMatched,
    /// What found its requests is not of the window, or not whole.
    #[error(
        "no whole transaction of the run's window was found in the recording: of it, {gap}; record \
             from before the run until after it"
    )]
    NothingInWindow {
        /// How far the recording covers the run.
        gap: String,
    },
    /// What is left of a recording that ends early does not do.
    #[error("{notice}; up to there, {source}")]
    OfCut {
        /// How its file ends.
        notice: String,
        /// Why it does not do.
        source: Box<JoinError>,
    },
}

impl JoinError {
    /// Whether it is for want of requests, of which a whole recording may have more.
    pub(super) fn is_of_requests(&self) -> bool {
        matches!(
            self,
            Self::NoRequests { .. }
                | Self::NoCommonConnection { .. }
                | Self::NoOverlap { .. }
                | Self::FitsNowhere { .. }
                | Self::FitsSeveral { .. }
                | Self::NothingMatched
                | Self::NothingInWindow { .. }
        )
    }

    /// Whether the command line is at fault.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::NoStatements { .. } | Self::WasTraced { .. } | Self::IsJoined { .. })
    }
}
