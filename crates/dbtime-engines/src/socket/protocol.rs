//! What a database's protocol is to the reactor.

use super::address::ServerAddress;
use super::tls::TlsRequirement;
use crate::drive::shard::StatementResult;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::session::StatementCall;

/// One connection's side of a conversation.
pub trait Protocol: Send + Sized {
    /// What all connections of a run share: who they are, and what they execute.
    type Shared: Send + Sync;

    /// A conversation that has not begun.
    fn new(shared: &Self::Shared) -> Self;

    /// The socket is open: begins the conversation, anew if there was one before. Writes to `out`
    /// what is sent first.
    fn open(
        &mut self,
        shared: &Self::Shared,
        transport: Transport,
        tls: TlsRequirement,
        out: &mut Vec<u8>,
    );

    /// The connection is encrypted from here on, after [`ProtocolProgress::Encrypt`]; `certificate`
    /// is the
    /// server's.
    ///
    /// # Errors
    /// When logging in cannot go on.
    fn encrypted(
        &mut self,
        shared: &Self::Shared,
        certificate: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure>;

    /// The connection's number on the server, by which it can be ended there.
    fn number(&self) -> Option<u32>;

    /// Executes a statement of the workload; only after [`ProtocolProgress::Connected`]. Several
    /// may be
    /// under way: they are answered in their order.
    ///
    /// # Errors
    /// When its parameters cannot be sent; then nothing was.
    fn execute(
        &mut self,
        shared: &Self::Shared,
        call: StatementCall<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure>;

    /// Does what a script asks; only after [`ProtocolProgress::Connected`], and one at a time.
    /// [`ConnectionOp::Connect`] and [`ConnectionOp::Disconnect`] are the reactor's affair.
    ///
    /// # Errors
    /// When it cannot be sent; then nothing was.
    fn perform(
        &mut self,
        shared: &Self::Shared,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<SubmitResult, DatabaseFailure>;

    /// What the last [`Self::perform`] has brought back, once it is answered.
    fn results(&mut self) -> &mut ResultSets;

    /// Executes a text as it is; [`Self::take_table`] has its rows once it is answered.
    fn query(&mut self, sql: &str, out: &mut Vec<u8>);

    /// The rows of the last [`Self::query`]; `None`: there were too many of them to be kept.
    fn take_table(&mut self) -> Option<QueryTable>;

    /// Sends data that a `COPY … FROM STDIN` waits for, and ends it when there is no more: `None`.
    /// Only where [`ProtocolProgress::WantsData`] is ever said.
    fn data(&mut self, _data: Option<&[u8]>, _out: &mut Vec<u8>) {}

    /// Takes bytes that arrived. Returns how many of them it used, and what came of them; the
    /// others are given again with those that follow.
    fn receive(
        &mut self,
        shared: &Self::Shared,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, ProtocolProgress);

    /// The first row of the last answer, when it was wanted.
    fn first_row(&self) -> &[SqlValue];

    /// What may be wrong where the server has let nobody in so far; `None`: nothing is known.
    fn login_hint(&self) -> Option<&'static str> {
        None
    }

    /// Puts around the words by which the server lets nobody in whatever its own client puts there.
    /// `nth` is the one of the host's addresses that was tried.
    fn refused(&self, _failure: &mut DatabaseFailure, _address: &ServerAddress, _nth: usize) {}

    /// Says goodbye.
    fn terminate(&mut self, out: &mut Vec<u8>);
}

/// What becomes of a script's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmitResult {
    /// The server will answer.
    Sent,
    /// It is done, and nobody answers.
    Done,
}

/// The rows of a statement, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values by row, `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

impl QueryTable {
    /// The value of the first row's first column.
    pub fn value(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// What a socket is made of, which some ways to log in depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A Unix socket: nobody listens in.
    Unix,
    /// TCP.
    Tcp,
}

/// What came of bytes that arrived.
#[derive(Debug)]
pub enum ProtocolProgress {
    /// Nothing yet.
    More,
    /// From here on the connection is to be encrypted.
    Encrypt,
    /// The server has let us in, and all is set up.
    Connected,
    /// The statement has been answered.
    Answered(StatementResult),
    /// The server waits for the data of a `COPY`.
    WantsData,
    /// The connection is of no use any more.
    Broken(Box<DatabaseFailure>),
}
