//! Mirrors the structs of `bpf/scheduler.h`. Unit of all times: nanoseconds.

mirrored_structs! {
    /// What threads have had since the watching began.
    struct SpentRecord = "spent" {
        /// On a CPU by the thread's CPU clock.
        clock: u64,
        /// The same from switch to switch.
        cpu: u64,
        woken: u64,
        preempted: u64,
        /// Times it left its CPU.
        voluntary: u64,
        involuntary: u64,
    }

    /// A process: a key of `ended`.
    struct ProcessKey = "process" {
        /// Of its first thread, since boot.
        start: u64,
        tgid: u32,
        reserved: u32,
    }

    /// A thread that is there: a row of `threads`, by its number.
    struct ThreadRow = "thread" {
        process: ProcessKey,
        spent: SpentRecord,
        /// It is where it is.
        since: u64,
        /// Its CPU clock when it was seen last.
        clock: u64,
        place: u32,
        is_woken_on_cpu: u32,
    }

    /// The threads of a process that have ended: a row of `ended`.
    struct EndedRow = "ended" {
        spent: SpentRecord,
        user: u64,
        system: u64,
        /// The last of them.
        at: u64,
        threads: u32,
        uid: u32,
        name: [u8; 16],
    }

    /// A CPU: a row of `cpus`.
    struct CpuRow = "cpu" {
        idle: u64,
        /// It is whose it is; 0: since before the watching began.
        since: u64,
        switches: u64,
        /// Switches of threads for which there was no room.
        lost: u64,
        /// Switches that the kernel did not tell of.
        missed: u64,
        /// Whose it is; 0: nobody's.
        tid: u32,
        reserved: [u32; 5],
    }
}
