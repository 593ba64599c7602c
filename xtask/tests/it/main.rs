//! The scripts of the workspace, with programs in the place of those that take minutes.

mod fuzz_script;
