//! Burns a stated amount of its own CPU clock: `burn SECONDS FIFO RESULT`.
//!
//! Waits until FIFO is written to, burns, writes the nanoseconds it took by its own clock to
//! RESULT, and sleeps. For `bench/ps-accuracy.sh`.

use dbtime_machine::clock;
use dbtime_model::Nanos;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("burn SECONDS FIFO RESULT");
    let amount = Nanos::from_secs_f64(next().parse().expect("seconds"));
    let (fifo, result) = (next(), next());
    let mut result = File::create(result).expect("room for a file");
    // Waking up costs the same clock.
    let begun = clock::process_cpu();
    std::fs::read(&fifo).expect("a FIFO");
    let mut x = 1u64;
    while clock::process_cpu() - begun < amount {
        (0..1000).for_each(|_| x = std::hint::black_box(x.wrapping_mul(31)));
    }
    let burned = clock::process_cpu() - begun;
    writeln!(result, "{}", burned.0).expect("room for a number");
    std::thread::sleep(Duration::from_secs(3600));
}
