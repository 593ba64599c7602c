//! The way into a Lua state that every step of every client takes. It costs a third of what a call
//! through mlua's own types does (`benches/lua.rs`, `empty_event`), for it converts nothing.

use super::lua_state::CoroutineResume;
use mlua::{Function, Lua, Result, Thread, ffi};
use std::borrow::Cow;

/// Where `dispatch` lies on the stack of its thread.
const FUNCTION: i32 = 1;

/// `dispatch` of `client.lua`, on a Lua thread that is never resumed: only its stack is used.
pub(super) struct LuaDispatch {
    thread: Thread,
}

impl LuaDispatch {
    pub(super) fn new(lua: &Lua, function: Function) -> Result<Self> {
        Ok(Self { thread: lua.create_thread(function)? })
    }

    /// Resumes a client until it wants something, and returns the number of that.
    ///
    /// # Errors
    /// What no client can catch: the memory is used up, or an error's own handler failed.
    #[inline]
    pub(super) fn call(
        &self,
        client: u32,
        reply: CoroutineResume,
    ) -> std::result::Result<u32, String> {
        let state = self.thread.state();
        // SAFETY: the thread keeps its Lua state alive, and both stay on this operating system's
        // thread. Its stack holds the function alone, so that LUA_MINSTACK (20) slots are free for
        // at most five more; it is left as it was found. Errors stop at `lua_pcall`, and pushing
        // numbers and booleans raises none.
        unsafe {
            ffi::lua_pushvalue(state, FUNCTION);
            ffi::lua_pushinteger(state, client as ffi::lua_Integer);
            let count = 1 + push(state, reply);
            let is_fine = ffi::lua_pcall(state, count, 1, 0) == ffi::LUA_OK;
            let yielded = if is_fine { Ok(number(state)) } else { Err(problem(state)) };
            ffi::lua_settop(state, FUNCTION);
            yielded
        }
    }
}

/// Pushes what a client is resumed with, and returns how many values that are.
///
/// # Safety
/// Four slots of the stack are free.
#[inline]
unsafe fn push(state: *mut ffi::lua_State, reply: CoroutineResume) -> i32 {
    // SAFETY: as above.
    unsafe {
        match reply {
            CoroutineResume::Answered(columns, rows) => {
                ffi::lua_pushinteger(state, 0);
                ffi::lua_pushinteger(state, columns as ffi::lua_Integer);
                ffi::lua_pushinteger(state, rows as ffi::lua_Integer);
                return 3;
            }
            CoroutineResume::Failed => ffi::lua_pushinteger(state, 1),
            CoroutineResume::Go => ffi::lua_pushboolean(state, 1),
            CoroutineResume::Stop => ffi::lua_pushboolean(state, 0),
        }
    }
    1
}

/// # Safety
/// The stack is not empty.
#[inline]
unsafe fn number(state: *mut ffi::lua_State) -> u32 {
    // SAFETY: as above. What is no number is taken as zero, which is nothing that a client wants.
    unsafe { ffi::lua_tointeger(state, -1) as u32 }
}

/// # Safety
/// The stack is not empty.
#[cold]
unsafe fn problem(state: *mut ffi::lua_State) -> String {
    // SAFETY: as above. A string is only looked at, nothing is converted or allocated by Lua, and
    // it is copied before the stack is touched.
    let text = unsafe {
        let mut length = 0;
        let is_text = ffi::lua_type(state, -1) == ffi::LUA_TSTRING;
        let bytes =
            if is_text { ffi::lua_tolstring(state, -1, &raw mut length) } else { std::ptr::null() };
        if bytes.is_null() {
            Cow::Borrowed("an error without words left the script")
        } else {
            String::from_utf8_lossy(std::slice::from_raw_parts(bytes.cast(), length))
        }
    };
    text.into_owned()
}
