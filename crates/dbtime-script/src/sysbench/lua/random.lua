-- Random numbers of a range. The host draws them by a C function, which LuaJIT calls from compiled
-- code; a function of Lua's would make it leave that.

local rt = ...
local host = rt.host
local ffi = require("ffi")
local draw = ffi.cast("double (*)(double, double, const void *, uint32_t)", host.draw)
-- The numbers come first, for that is how LuaJIT counts them in its errors.
local lua_host = host.lua_host

for nth, name in ipairs(host.ranges) do
  host.random[name] = function(a, b)
    return draw(a, b, lua_host, nth)
  end
end
