//! `string.gsub` and `table.sort` with functions of the script's: as those of C, and able to wait.

use super::*;
use dbtime_model::SqlDialect;
use mlua::Lua;

const OURS: &str = include_str!("../lua/callbacks.lua");

/// What a chunk returns in a plain state, and in one with our functions.
fn both(chunk: &str) -> [String; 2] {
    let answer = |has_ours: bool| {
        let lua = Lua::new();
        if has_ours {
            lua.load(OURS).exec().expect("our functions");
        }
        lua.load(chunk).eval::<String>().unwrap_or_else(|error| panic!("{chunk}: {error}"))
    };
    [answer(false), answer(true)]
}

#[test]
fn a_text_is_replaced_as_c_replaces_it() {
    let texts =
        ["", "a", "hello world", "  two  words ", "x=1, y = 22,z=", "THE (quick) fox", "aaa"];
    let patterns = [
        "%w+",
        "%w*",
        "x*",
        "^%w+",
        "^%s*",
        "%s*$",
        "(%w)(%w*)",
        "()",
        "(%w+)%s*=%s*(%w*)",
        ".",
        "%f[%w]%w",
        "%f[%s]",
        "%b()",
        "a-",
        "[aeiou]",
        "nothing",
        "^",
        "$",
        "a*$",
        "(a)(a)%1",
    ];
    for text in texts {
        for pattern in patterns {
            for most in ["nil", "0", "1", "2", "-1", "1.9", "'2'"] {
                let chunk = format!(
                    "local calls = {{}}
                    local result, count = ({text:?}):gsub({pattern:?}, function(...)
                      calls[#calls + 1] = table.concat({{ ... }}, ',')
                      local n = #calls % 4
                      if n == 1 then return '<' .. tostring(...) .. '>' end
                      if n == 2 then return nil end
                      if n == 3 then return 7 end
                      return false
                    end, {most})
                    return result .. '|' .. count .. '|' .. table.concat(calls, ';')"
                );
                let [c, ours] = both(&chunk);
                assert_eq!(ours, c, "{text:?} {pattern:?} {most}");
            }
        }
    }
}

#[test]
fn what_calls_no_function_is_left_to_c() {
    for chunk in [
        "return ('abc'):gsub('b', '%0%0')",
        "return ('abc'):gsub('%w', { b = 'x' })",
        "return select(2, pcall(string.gsub, 'a', '(', print))",
        "return select(2, pcall(function()
           local text = ('a'):gsub('a', function() return {} end)
         end))",
        "return select(2, pcall(function() local text = ('a'):gsub('(', print) end))",
        "return tostring(pcall(string.gsub, {}, 'a', print))",
        "return (string.gsub(12, '1', function() return 3 end))",
        "local t = { 3, 1, 2 } table.sort(t) return table.concat(t)",
        "return tostring(pcall(table.sort, { 1, 'a' }))",
    ] {
        let [c, ours] = both(chunk);
        assert_eq!(ours, c, "{chunk}");
    }
}

#[test]
fn lists_are_sorted_as_c_sorts_them_down_to_the_order_of_equals() {
    let [c, ours] = both(
        "local seed, out = 1, {}
        local function draw(n) seed = (seed * 16807) % 2147483647 return seed % n end
        for size = 0, 60 do
          local list = {}
          for at = 1, size do list[at] = { key = draw(10), at = at } end
          table.sort(list, function(a, b) return a.key < b.key end)
          for at, one in ipairs(list) do out[#out + 1] = one.key .. ':' .. one.at end
        end
        return table.concat(out, ' ')",
    );
    assert_eq!(ours, c);
    let wrong = "local t = {} for at = 1, 30 do t[at] = at end
        local function sort() table.sort(t, function() return true end) return 1 end
        return tostring(select(2, pcall(sort)))";
    let [c, ours] = both(wrong);
    assert_eq!(ours, c);
}

#[test]
fn functions_that_are_called_back_may_ask_the_database() {
    let stage = Stage::own("callbacks", SqlDialect::Mysql);
    stage.run(1);
    assert_eq!(stage.printed(), "[a] [b]\t2\t1 2 3\n");
    assert_eq!(stage.totals().queries(), 4);
}
