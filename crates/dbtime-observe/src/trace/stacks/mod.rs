//! Stacks with names: addresses of the kernel's side as functions of programs and of the kernel.
//!
//! - `stack_names`: whole stacks, and how good their names are;
//! - `process_symbols`, `kernel_symbols`: the functions of addresses;
//! - `function_name`: one as it is shown.

mod function_name;
mod kernel_symbols;
mod process_symbols;
mod stack_names;

pub use stack_names::{NamedStack, StackNames};
