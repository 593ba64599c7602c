//! What reading a clock costs. `cargo bench -p dbtime-machine`

use dbtime_machine::clock;
use dbtime_machine::counter::TimeStampCounter;
use dbtime_model::{MonoNanos, Nanos};
use divan::Bencher;

fn main() {
    divan::main();
}

#[divan::bench]
fn read_the_clock() -> MonoNanos {
    clock::now()
}

#[divan::bench]
fn read_the_cpu_clock_of_the_thread() -> Nanos {
    clock::thread_cpu()
}

#[divan::bench]
fn read_the_time_stamp_counter(bencher: Bencher) {
    let counter = TimeStampCounter::new();
    bencher.bench_local(|| counter.read());
}
