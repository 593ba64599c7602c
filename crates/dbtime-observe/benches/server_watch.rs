//! What watching a server costs. `cargo bench -p dbtime-observe`
//!
//! One server has 2,000 children of one thread each, as PostgreSQL with 2,000 connections; the
//! other is one process of 2,000 threads, as MariaDB. Budget: a glance every second costs at most
//! 1 % of one CPU, 10 ms.

use dbtime_observe::process::{ProcReader, ServerWatch};
use divan::Bencher;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Children, and threads.
const MANY: u32 = 2000;

fn main() {
    divan::main();
}

/// A shell with many sleeping children.
struct Crowd(Child);

impl Crowd {
    fn gather(watch: impl Fn(u32) -> u32) -> Self {
        let script = format!("for i in $(seq {MANY}); do sleep 600 & done; wait");
        let mut command = Command::new("sh");
        let child = command.args(["-c", &script]).stdin(Stdio::null()).spawn().expect("a shell");
        while watch(child.id()) <= MANY {
            std::thread::sleep(Duration::from_millis(50));
        }
        Self(child)
    }

    fn watch(&self) -> ServerWatch {
        ServerWatch::new(self.0.id()).expect("it lives")
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let sample = self.watch().sample().expect("it lives");
        let children = sample.processes.iter().skip(1).map(|process| process.id.pid.to_string());
        let _ = Command::new("kill").args(children).status();
        let _ = self.0.wait();
    }
}

fn crowd() -> Crowd {
    Crowd::gather(|pid| {
        let mut watch = ServerWatch::new(pid).expect("it lives");
        watch.glance().expect("it lives").processes
    })
}

#[divan::bench(sample_count = 50)]
fn glance_at_2000_processes(bencher: Bencher) {
    let crowd = crowd();
    let mut watch = crowd.watch();
    bencher.bench_local(|| watch.glance().expect("it lives"));
}

#[divan::bench(sample_count = 20)]
fn sample_of_2000_processes(bencher: Bencher) {
    let crowd = crowd();
    let mut watch = crowd.watch();
    bencher.bench_local(|| watch.sample().expect("it lives"));
}

#[divan::bench(sample_count = 20)]
fn difference_of_2000_processes(bencher: Bencher) {
    let crowd = crowd();
    let mut watch = crowd.watch();
    let (a, b) = (watch.sample().expect("it lives"), watch.sample().expect("it lives"));
    bencher.bench_local(|| b.since(&a));
}

#[divan::bench(sample_count = 20)]
fn sample_of_2000_threads(bencher: Bencher) {
    let (threads, stop): (Vec<_>, Vec<_>) = (0..MANY)
        .map(|_| {
            let (stop, wait) = channel::<()>();
            (std::thread::spawn(move || wait.recv().is_err()), stop)
        })
        .unzip();
    let mut reader = ProcReader::default();
    bencher.bench_local(|| reader.sample(std::process::id()).expect("this process"));
    drop(stop);
    threads.into_iter().for_each(|thread| {
        let _ = thread.join();
    });
}

#[divan::bench]
fn sample_of_one_process(bencher: Bencher) {
    let mut reader = ProcReader::default();
    bencher.bench_local(|| reader.sample(std::process::id()).expect("this process"));
}
