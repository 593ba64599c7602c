//! What logs have in numbers beside durations.

use crate::parts::Part;

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFigureUnit {
    /// Nanoseconds inside, microseconds in files.
    Time,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// 0 or 1: its mean is a share.
    Flag,
}

/// Declares the figures: variant, name, unit.
macro_rules! figures {
    ($($(#[$about:meta])* $variant:ident = $name:literal, $unit:ident;)+) => {
        /// A figure that some log has of a record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LogFigure {
            $($(#[$about])* $variant,)+
        }

        impl LogFigure {
            /// All of them, in the order of lists.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What it is counted in.
            pub const fn unit(self) -> LogFigureUnit {
                match self {
                    $(Self::$variant => LogFigureUnit::$unit,)+
                }
            }
        }
    };
}

figures! {
    /// Waiting for locks of tables (and rows, since MySQL 8.0.28).
    LockTime = "lock_time", Time;
    /// Waiting for locks of rows, as Percona Server has it beside the lock time.
    RowLockWait = "innodb_rec_lock_wait", Time;
    /// Waiting to enter InnoDB.
    QueueWait = "innodb_queue_wait", Time;
    /// Reading pages (`InnoDB_IO_r_wait`, `Pages_read_time`).
    ReadWait = "read_wait", Time;
    /// Time in the storage engine.
    EngineTime = "engine_time", Time;
    /// CPU, as Percona Server's profiling has it.
    CpuTime = "cpu_time", Time;
    /// Planning or parsing, as PostgreSQL logs it apart.
    ParseTime = "parse_time", Time;
    /// Binding, as PostgreSQL logs it apart.
    BindTime = "bind_time", Time;
    /// What the servers behind a web server took.
    UpstreamTime = "upstream_time", Time;
    /// Rows that were sent.
    RowsSent = "rows_sent", Count;
    /// Rows that were examined.
    RowsExamined = "rows_examined", Count;
    /// Rows that were changed.
    RowsAffected = "rows_affected", Count;
    /// Rows that were read.
    RowsRead = "rows_read", Count;
    /// Bytes to the client.
    BytesSent = "bytes_sent", Bytes;
    /// Bytes from the client.
    BytesReceived = "bytes_received", Bytes;
    /// Temporary tables.
    TmpTables = "tmp_tables", Count;
    /// Temporary tables on disk.
    TmpDiskTables = "tmp_disk_tables", Count;
    /// Bytes of temporary tables or files.
    TmpBytes = "tmp_bytes", Bytes;
    /// Merge passes of sorts.
    MergePasses = "merge_passes", Count;
    /// Rows that were sorted.
    SortRows = "sort_rows", Count;
    /// Reads by the storage engine.
    ReadCalls = "innodb_io_r_ops", Count;
    /// Bytes that it read.
    ReadBytes = "innodb_io_r_bytes", Bytes;
    /// Pages that were touched, each once.
    PagesDistinct = "innodb_pages_distinct", Count;
    /// Pages that were accessed.
    PagesAccessed = "pages_accessed", Count;
    /// Pages that were read.
    PagesRead = "pages_read", Count;
    /// The query cache answered.
    CacheHit = "qc_hit", Flag;
    /// A table was read from end to end.
    FullScan = "full_scan", Flag;
    /// A join without an index.
    FullJoin = "full_join", Flag;
    /// A temporary table was made.
    TmpTable = "tmp_table", Flag;
    /// A temporary table went to disk.
    TmpTableOnDisk = "tmp_table_on_disk", Flag;
    /// A sort without an index.
    Filesort = "filesort", Flag;
    /// A sort went to disk.
    FilesortOnDisk = "filesort_on_disk", Flag;
    /// The connection was kept alive behind the request.
    KeptAlive = "kept_alive", Flag;
    /// The client went away before the answer was complete.
    Aborted = "aborted", Flag;
}

impl LogFigure {
    /// Which part of the duration it is; `None`: it is none, or lies inside another one.
    pub const fn part(self) -> Option<Part> {
        match self {
            Self::LockTime | Self::RowLockWait => Some(Part::Lock),
            Self::ReadWait => Some(Part::IoRead),
            Self::CpuTime => Some(Part::Cpu),
            _ => None,
        }
    }
}
