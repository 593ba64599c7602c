//! sysbench scripts: LuaJIT, the interface that scripts expect, its options and its reports.
