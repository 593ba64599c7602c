//! The null server as a program: prints its targets on one line, then serves until it is ended.
//!
//! `cargo run --release -p dbtime-null-server --example null_server -- --mysql 0 --postgres 0`

use clap::Parser;
use dbtime_model::{Nanos, WireProtocol};
use dbtime_null_server::{
    FaultSchedule, ListenAddress, NullServer, NullServerOptions, ServerStall,
};
use std::io::{self, Write};

/// A database server that holds nothing and answers at once.
#[derive(Parser)]
struct Arguments {
    /// Speak MySQL's protocol on this port of 127.0.0.1 (0: a free one) or at this socket.
    #[arg(long, value_name = "PORT|PATH")]
    mysql: Option<ListenAddress>,
    /// The same with PostgreSQL's protocol.
    #[arg(long, value_name = "PORT|PATH")]
    postgres: Option<ListenAddress>,
    /// Threads that serve.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Answer so late: 1ms.
    #[arg(long, value_name = "TIME")]
    delay: Option<Nanos>,
    /// Stand still before this statement, for --stall-for.
    #[arg(long, value_name = "N", requires = "stall_for")]
    stall_at: Option<u64>,
    /// Stand still for so long.
    #[arg(long, value_name = "TIME", requires = "stall_at")]
    stall_for: Option<Nanos>,
    /// Let one statement in so many fail.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fail_every: Option<u64>,
    /// With which number, on MySQL's protocol.
    #[arg(long, default_value_t = FaultSchedule::default().mysql_error)]
    mysql_error: u16,
    /// With which SQLSTATE, on PostgreSQL's protocol.
    #[arg(long, default_value_t = FaultSchedule::default().postgres_error)]
    postgres_error: String,
    /// Close the connection instead of answering one statement in so many.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    close_every: Option<u64>,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let wires =
        [(WireProtocol::Mysql, arguments.mysql), (WireProtocol::Postgres, arguments.postgres)];
    let listen: Vec<(WireProtocol, ListenAddress)> =
        wires.into_iter().filter_map(|(wire, listen)| Some((wire, listen?))).collect();
    if listen.is_empty() {
        return Err(io::Error::other("no client can reach it: add --mysql 0 or --postgres 0"));
    }
    let stall = arguments.stall_at.zip(arguments.stall_for);
    let server = NullServer::start(&NullServerOptions {
        listen,
        threads: arguments.threads,
        faults: FaultSchedule {
            delay: arguments.delay,
            stall: stall.map(|(at, length)| ServerStall { at, length }),
            fail_every: arguments.fail_every,
            mysql_error: arguments.mysql_error,
            postgres_error: arguments.postgres_error,
            close_every: arguments.close_every,
        },
    })?;
    let targets = [WireProtocol::Mysql, WireProtocol::Postgres].map(|wire| server.target(wire));
    let line: Vec<&str> = targets.into_iter().flatten().collect();
    writeln!(io::stdout(), "{}", line.join(" "))?;
    io::stdout().flush()?;
    server.wait();
    Ok(())
}
