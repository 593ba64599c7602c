//! The null server: a database behind a socket that holds nothing and answers at once.
//!
//! It speaks just enough of MySQL's and PostgreSQL's protocols for a load to be driven against it,
//! so that tests and benchmarks see the driver and not a database: any login is let in, every
//! SELECT gives one row with the number 1, catalogues and SHOW are empty, everything else succeeds.
//! On request it is late, stands still once, fails statements or breaks connections.
//! The target `null:` is the same without a socket.
//!
//! ```text
//!   listeners ─► first EventLoop ─ deals connections ─► EventLoop of each thread
//!                                                          │
//!                     Connection: bytes in and out ◄───────┤
//!                     Session: MySQL or PostgreSQL ◄───────┘ ── FaultPlan: answer, fail, close
//! ```
//!
//! It leaves out TLS, pipelined COPY, results of many packets, and everything that needs data.

mod connection;
mod event_loop;
mod faults;
mod listener;
mod mysql;
mod postgres;
mod reply;
mod session;

pub use faults::{FaultSchedule, ServerStall};
pub use listener::ListenAddress;

use dbtime_model::WireProtocol;
use event_loop::{EventLoop, LoopInbox};
use faults::FaultPlan;
use listener::NullListener;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// What a null server is started with.
#[derive(Clone, Debug, Default)]
pub struct NullServerOptions {
    /// Where it speaks which protocol.
    pub listen: Vec<(WireProtocol, ListenAddress)>,
    /// Threads that serve; 0 is taken for 1.
    pub threads: usize,
    /// What it does wrong.
    pub faults: FaultSchedule,
}

/// A server that is running; it ends when this is dropped.
pub struct NullServer {
    targets: Vec<(WireProtocol, String)>,
    plan: Arc<FaultPlan>,
    inboxes: Vec<Arc<LoopInbox>>,
    threads: Vec<JoinHandle<()>>,
}

impl NullServer {
    /// Starts a server. Lets the process open as many files as its hard limit allows.
    ///
    /// # Errors
    /// When an address cannot be listened on, or the system gives no thread or epoll instance.
    pub fn start(options: &NullServerOptions) -> io::Result<Self> {
        allow_files();
        let plan = Arc::new(FaultPlan::new(options.faults.clone()));
        let mut listeners = Vec::new();
        let mut targets = Vec::new();
        for (wire, listen) in &options.listen {
            let listener = NullListener::bind(listen)?;
            targets.push((*wire, listener.target(*wire)?));
            listeners.push((listener, *wire));
        }
        let threads = options.threads.max(1);
        let inboxes = (0..threads).map(|_| LoopInbox::new().map(Arc::new));
        let inboxes = inboxes.collect::<io::Result<Vec<_>>>()?;
        let mut server = Self { targets, plan, inboxes, threads: Vec::new() };
        for index in 0..threads {
            let listeners = std::mem::take(&mut listeners);
            let plan = Arc::clone(&server.plan);
            let inboxes = server.inboxes.clone();
            let serving = EventLoop::new(listeners, inboxes, index, plan)?;
            let named = std::thread::Builder::new().name(format!("null server {index}"));
            server.threads.push(named.spawn(move || serving.run())?);
        }
        Ok(server)
    }

    /// The target of a protocol, as `--target` takes it; `None` where it is not spoken.
    pub fn target(&self, wire: WireProtocol) -> Option<&str> {
        let found = self.targets.iter().find(|(spoken, _)| *spoken == wire);
        found.map(|(_, target)| target.as_str())
    }

    /// How many statements that give a row it has answered, badly or not at all included.
    pub fn statements(&self) -> u64 {
        self.plan.count()
    }

    /// Waits until it ends, which it does not by itself.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.inboxes.iter().for_each(|inbox| inbox.stop());
        for thread in self.threads.drain(..) {
            // It says itself that it panicked; there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// A connection is a file.
fn allow_files() {
    let limit = getrlimit(Resource::Nofile);
    // With the limit as it is, a connection too many is refused by the system.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
