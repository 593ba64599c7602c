//! Drives a plan over the connections of many shards.

use super::protocol::Protocol;
use super::reactor::{SocketReactor, SocketSettings};
use super::tls::TlsError;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::plan::{Driven, Plan, SecondSink, Stop};
use crate::shard::Shard;
use crate::wait::{precise_timers, wait_until};
use dbtime_model::{MonoNanos, Nanos, now};
use std::sync::{Arc, OnceLock};

/// Why nothing could be driven.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Connections cannot be encrypted as asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Not one connection could be made.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),
    /// The system gives no thread or no epoll instance.
    #[error("cannot start a shard: {0}; use fewer --shards, or raise the limits")]
    System(std::io::Error),
    /// The run was ended before its connections were there.
    #[error("the run was ended while its connections were being made")]
    Stopped,
}

/// Shards need a moment between the last connection and the first transaction.
const HEAD_START: Nanos = Nanos::from_millis(2);

/// Drives the plan and blocks until all shards have ended. The load starts when every connection
/// has been made or refused; those that were refused are tried again when they are needed. `ready`
/// is called in between.
///
/// # Errors
/// When not one connection could be made; then nothing was driven.
pub fn drive<P: Protocol>(
    plan: &Plan,
    shared: &Arc<P::Shared>,
    settings: &Arc<SocketSettings>,
    sink: impl Fn(u32) -> Box<dyn SecondSink>,
    ready: impl Fn(),
    started: impl Fn(MonoNanos),
    stop: &Stop,
) -> Result<Driven, ConnectError> {
    let gate = Gate::<ConnectError>::new();
    let start = OnceLock::<MonoNanos>::new();
    let made = std::sync::Mutex::new((0usize, None::<Failure>));
    let threads = std::thread::scope(|scope| {
        let shards: Vec<_> = (0..plan.shards)
            .map(|id| {
                let sink = sink(id);
                let (gate, start, made) = (&gate, &start, &made);
                let work = move || {
                    precise_timers();
                    let mine = (id..plan.servers).step_by(plan.shards as usize).count();
                    let reactor =
                        SocketReactor::<P>::new(Arc::clone(shared), Arc::clone(settings), mine);
                    let mut reactor = match reactor {
                        Ok(reactor) => reactor,
                        Err(error) => {
                            gate.change(|state| {
                                state.failed = Some(ConnectError::System(error.into()))
                            });
                            return None;
                        }
                    };
                    let (up, failure) = reactor.connect_all(|| stop.is_set());
                    {
                        let mut made = crate::gate::lock(made);
                        made.0 += up;
                        made.1 = made.1.take().or(failure);
                    }
                    gate.change(|state| state.connected += 1);
                    if !gate.wait(|state| state.is_open) {
                        return None;
                    }
                    let start = *start.get()?;
                    let shard = Shard::new(plan, id, start, reactor, sink, stop);
                    wait_until(start, true, |at| at >= stop.instant());
                    Some(shard.run())
                };
                let named = std::thread::Builder::new().name(format!("shard {id}"));
                let spawned = named.spawn_scoped(scope, work);
                if let Err(error) = spawned {
                    gate.change(|state| state.failed = Some(ConnectError::System(error)));
                    return None;
                }
                spawned.ok()
            })
            .collect();
        let are_ready = gate.wait(|state| state.connected == plan.shards);
        let (up, failure) = std::mem::take(&mut *crate::gate::lock(&made));
        let error = match failure {
            _ if !are_ready => None,
            _ if stop.is_set() => Some(ConnectError::Stopped),
            Some(failure) if up == 0 => Some(ConnectError::Refused(Box::new(failure))),
            _ => None,
        };
        if let Some(error) = error {
            gate.change(|state| state.failed = Some(error));
        } else if are_ready {
            ready();
            let at = *start.get_or_init(|| now() + HEAD_START);
            started(at);
            gate.change(|state| state.is_open = true);
        }
        let joined = shards
            .into_iter()
            .flatten()
            .map(|shard| shard.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    if let Some(error) = gate.into_failure() {
        return Err(error);
    }
    let start = *start.get().expect("set, for nothing failed");
    Ok(Driven::gather(plan, start, threads))
}
