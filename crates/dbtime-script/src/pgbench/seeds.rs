//! Which client and which thread of pgbench draws from which stream: everything follows from one
//! seed, in the order in which pgbench 15 takes it.
//!
//! ```text
//!   --random-seed ──► base ──► client 0, client 1, …       random functions
//!                          ──► default_seed                hash, permute
//!                          ──► thread 0: choose, throttle, sample; thread 1: …
//! ```
//!
//! Threads are pgbench's (`-j`), not those of the engine.

use super::random::PgbenchRandom;

/// The streams of a run.
#[derive(Clone, Debug)]
pub struct ClientSeeds {
    /// The random functions, by client.
    pub clients: Vec<PgbenchRandom>,
    /// The variable `default_seed`.
    pub default_seed: i64,
    /// By thread of pgbench's.
    pub threads: Vec<ThreadSeeds>,
}

/// What the clients of a thread share.
#[derive(Clone, Debug)]
pub struct ThreadSeeds {
    /// Which script is next.
    pub choose: PgbenchRandom,
    /// When a transaction is due under `-R`.
    pub throttle: PgbenchRandom,
    /// Which transactions are logged under `--sampling-rate`.
    pub sample: PgbenchRandom,
}

impl ClientSeeds {
    /// The streams of `clients` clients in `threads` threads. `is_seed_given` says that
    /// `default_seed` is set by `-D`: then nothing is drawn for it.
    pub fn new(seed: u64, clients: u32, threads: u32, is_seed_given: bool) -> Self {
        let mut base = PgbenchRandom::new(seed);
        let clients = (0..clients).map(|_| base.split()).collect();
        let default_seed = if is_seed_given { 0 } else { base.bits() as i64 };
        let of_thread =
            |_| ThreadSeeds { choose: base.split(), throttle: base.split(), sample: base.split() };
        Self { clients, default_seed, threads: (0..threads).map(of_thread).collect() }
    }
}

/// The seed that `--random-seed` names: a number, `time` or `rand`, for which the caller has the
/// clock's microseconds and some random bits.
///
/// # Errors
/// It is none of them.
pub fn seed_named(option: &str, time_us: u64, random: u64) -> Result<u64, String> {
    match option {
        "time" => Ok(time_us),
        "rand" => Ok(random),
        // A minus counts down from the largest, as `scanf` takes it.
        number => {
            number.parse().or_else(|_| number.parse().map(i64::cast_unsigned)).map_err(|_| {
                let remedy = "expecting an unsigned integer, \"time\" or \"rand\"";
                format!("unrecognized random seed option \"{option}\": {remedy}")
            })
        }
    }
}

/// The thread of each client: neighbours stay together, and the first threads get one more where
/// the division leaves a rest.
pub fn deal_clients(clients: u32, threads: u32) -> Vec<u32> {
    let mut dealt = Vec::with_capacity(clients as usize);
    for thread in 0..threads {
        let left = clients - dealt.len() as u32;
        let share = left.div_ceil(threads - thread);
        dealt.extend((0..share).map(|_| thread));
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_dealt_as_evenly_as_they_go() {
        assert_eq!(deal_clients(4, 2), [0, 0, 1, 1]);
        assert_eq!(deal_clients(7, 3), [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(deal_clients(2, 2), [0, 1]);
    }

    #[test]
    fn seeds_are_numbers_or_come_from_outside() {
        assert_eq!((seed_named("7", 1, 2), seed_named("-1", 1, 2)), (Ok(7), Ok(u64::MAX)));
        assert_eq!((seed_named("time", 1, 2), seed_named("rand", 1, 2)), (Ok(1), Ok(2)));
        let error = seed_named("x", 1, 2).unwrap_err();
        assert!(error.starts_with("unrecognized random seed option \"x\""), "{error}");
    }

    #[test]
    fn a_given_default_seed_moves_the_threads_up() {
        let (drawn, preset) = (ClientSeeds::new(42, 2, 1, false), ClientSeeds::new(42, 2, 1, true));
        assert_eq!(drawn.clients[1], preset.clients[1]);
        assert_ne!(drawn.threads[0].choose, preset.threads[0].choose);
        assert_eq!(ClientSeeds::new(42, 4, 2, false).default_seed, 273_771_184_284_289_554);
    }
}
