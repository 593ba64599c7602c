//! What a trap takes on this machine, beside what a program does at it: found out with a probe on a
//! function of dbtime itself.

use crate::trace::kernel::dispatch::time_of_one;
use crate::trace::kernel::links::detach_aside;
use crate::trace::kernel::probe_links::attach_places;
use crate::trace::kernel::probe_sites::ProbeSites;
use dbtime_model::Nanos;
use libbpf_rs::Object;
use procfs::process::Process;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;

/// Where it cannot be found out, as on arm64: that of an x86-64 of 2023, virtual.
pub(crate) const DEFAULT_TRAP_TIME: Nanos = Nanos(600);

const OWN_PROGRAM: &str = "/proc/self/exe";

/// How often the function is called in a round.
const CALLS: u64 = 50;

/// What is called with the probe and without. The probe is at the call inside of it: what kernels
/// have to step through, instead of knowing what it does, takes many times as long.
#[inline(never)]
fn probed(call: u64) -> u64 {
    call.wrapping_add(called(black_box(call)))
}

#[inline(never)]
fn called(call: u64) -> u64 {
    black_box(call)
}

/// What a hit of a probe takes.
pub(crate) fn trap_time(object: &mut Object) -> Nanos {
    compared(object).unwrap_or(DEFAULT_TRAP_TIME)
}

fn compared(object: &mut Object) -> Result<Nanos, String> {
    let place = call_inside()?;
    let without = time_of_a_call();
    let program = "on_nothing".to_owned();
    let places = ProbeSites { program, offsets: vec![place], ..ProbeSites::default() };
    let file = File::open(OWN_PROGRAM).map_err(|error| error.to_string())?;
    let probe = attach_places(object, &places, &file)?;
    let trap = time_of_a_call() - without;
    detach_aside(probe);
    Ok(trap)
}

fn time_of_a_call() -> Nanos {
    time_of_one(CALLS, |call| {
        black_box(probed(call));
    })
}

/// Where in this process's program file the call is.
fn call_inside() -> Result<usize, String> {
    let (begin, target) = (probed as *const () as u64, called as *const () as u64);
    let place = place_in_file(begin)?;
    let mut code = [0; 128];
    let file = File::open(OWN_PROGRAM).map_err(|error| error.to_string())?;
    file.read_exact_at(&mut code, place as u64).map_err(|error| error.to_string())?;
    // call, relative to what is behind it, on x86-64
    let is_call = |(at, code): (usize, &[u8])| match code {
        [0xe8, distance @ ..] => {
            let distance = distance.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
            (begin + at as u64 + 5).wrapping_add_signed(distance.into()) == target
        }
        _ => false,
    };
    let at = code.windows(5).enumerate().position(is_call).ok_or("there is no call")?;
    Ok(place + at)
}

/// Where the code at an address lies in this process's program file.
fn place_in_file(address: u64) -> Result<usize, String> {
    let maps = Process::myself().and_then(|own| own.maps()).map_err(|error| error.to_string())?;
    let map = maps.iter().find(|map| (map.address.0..map.address.1).contains(&address));
    let map = map.ok_or("this program's code is nowhere")?;
    usize::try_from(address - map.address.0 + map.offset).map_err(|error| error.to_string())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_found_in_the_program_file() {
        let begin = place_in_file(probed as *const () as u64).expect("it has a file");
        let call = call_inside().expect("there is one");
        assert!((begin..begin + 128).contains(&call), "{begin:x} {call:x}");
        assert_eq!(probed(7), 14);
    }
}
