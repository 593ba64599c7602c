//! Finds out whether SQLite is built to count what the steps of a statement do: by the flags that
//! `.cargo/config.toml` gives it, which Cargo reads within the workspace only.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBSQLITE3_FLAGS");
    println!("cargo:rustc-check-cfg=cfg(sqlite_steps)");
    let flags = std::env::var("LIBSQLITE3_FLAGS").unwrap_or_default();
    if flags.split_whitespace().any(|flag| flag == "-DSQLITE_ENABLE_STMT_SCANSTATUS") {
        println!("cargo:rustc-cfg=sqlite_steps");
    }
}
