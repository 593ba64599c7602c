//! Causes in dbtime itself.

use super::*;
use rustix::process::{Pid, Signal, kill_process};

/// The driver is stopped so long each time.
const STOP: Duration = Duration::from_millis(100);

/// What is due while the driver is stopped goes out late: by half a stop, in the mean.
#[test]
fn a_driver_that_is_stopped_is_the_driver() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let load = "--connections 64 --rate 200/s --time 4s";
        let line = format!("--query 'SELECT 1' --target '{}' {load}", server.target());
        let stops = |dbtime: u32| {
            driven::wait_for_thread(dbtime, "load");
            let pid = Pid::from_raw(dbtime.cast_signed()).expect("a process");
            std::thread::sleep(Duration::from_millis(1_000));
            for _ in 0..4 {
                kill_process(pid, Signal::STOP).expect("it runs");
                std::thread::sleep(STOP);
                kill_process(pid, Signal::CONT).expect("it is there");
                std::thread::sleep(Duration::from_millis(300));
            }
        };
        is_found(|| {
            let without = ExplainedRun::of(&line)?;
            let with = ExplainedRun::of_in(&Sandbox::new(), &line, stops)?;
            with.advises("driver_delay", &["this is dbtime's own time"]);
            let late = |run: &ExplainedRun| run.part_us("lag") + run.part_us("client");
            let share = 4.0 * STOP.as_secs_f64() / number(&with.record, "/window/measure_s");
            let planted = share * STOP.as_secs_f64() * 1e6 / 2.0;
            let found = (late(&with) - late(&without), planted);
            Some(with.if_first("dbtime itself stood still", found))
        });
    }
}
