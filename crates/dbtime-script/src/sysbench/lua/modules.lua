-- Files and modules of scripts: compiled once per state, run once per client.
--
-- A file is compiled as the body of a function, and each client gets a function of its own made
-- from it: they share their code and what the compiler made of it, but not their globals.

local rt = ...
local host = rt.host
local open, concat = io.open, table.concat
local loadstring, setfenv = loadstring, setfenv
local compiled = {}

local function read(file)
  if file == host.file and host.source then
    return host.source
  end
  local handle, problem = open(file, "rb")
  if not handle then
    return nil, problem
  end
  local source, trouble = handle:read("*a")
  handle:close()
  return source, trouble
end

local function compile(file)
  if compiled[file] then
    return compiled[file]
  end
  local source, problem = read(file)
  if not source then
    return nil, "cannot open " .. tostring(problem)
  end
  host.seen(source)
  local name, make = file == host.file and host.source and "=stdin" or "@" .. file, nil
  if source:sub(1, 1) == "\27" then
    make = function() return (assert(loadstring(source, name))) end
  else
    if source:sub(1, 1) == "#" then
      source = "--" .. source
    end
    -- As it is, so that what is wrong with it is said in words that fit.
    make, problem = loadstring(source, name)
    if make then
      make, problem = loadstring("return function(...) " .. source .. "\nend", name)
    end
    if not make then
      return nil, problem
    end
  end
  compiled[file] = make
  return make
end

-- The main function of a file, for one client.
function rt.load_file(file, env)
  local make, problem = compile(file)
  if not make then
    return nil, problem
  end
  return setfenv(make(), env)
end

local function search(path, name)
  local tried = {}
  name = name:gsub("%.", "/")
  for template in path:gmatch("[^;]+") do
    local file = template:gsub("%?", (name:gsub("%%", "%%%%")))
    local handle = open(file, "rb")
    if handle then
      handle:close()
      return file
    end
    tried[#tried + 1] = "\n\tno file '" .. file .. "'"
  end
  return nil, concat(tried)
end

-- The functions below serve every client: they go by the one that runs.

local function find_preloaded(name)
  return rt.running.env.package.preload[name] or "\n\tno field package.preload['" .. name .. "']"
end

local function find_lua(name)
  local env = rt.running.env
  local file, tried = search(env.package.path, name)
  if not file then
    return tried
  end
  local main, problem = rt.load_file(file, env)
  if not main then
    error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. problem, 0)
  end
  return main
end

local function find_c(name)
  rt.real_package.cpath = rt.running.env.package.cpath
  return rt.real_package.loaders[3](name)
end

local lib = {}

function lib.require(name)
  if type(name) ~= "string" then
    error("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")", 2)
  end
  local package = rt.running.env.package
  local loaded, tried = package.loaded, {}
  if loaded[name] ~= nil then
    return loaded[name]
  end
  for _, loader in ipairs(package.loaders) do
    local main = loader(name)
    if type(main) == "function" then
      loaded[name] = true
      local result = main(name)
      if result ~= nil then
        loaded[name] = result
      end
      return loaded[name]
    end
    tried[#tried + 1] = main
  end
  error("module '" .. name .. "' not found:" .. concat(tried), 2)
end

function lib.module(name, ...)
  local env = rt.running.env
  local loaded = env.package.loaded
  local place, last = env, name
  for part in name:gmatch("([^.]+)%.") do
    place[part] = place[part] or {}
    place, last = place[part], last:sub(#part + 2)
  end
  local module = loaded[name]
  if type(module) ~= "table" then
    module = type(place[last]) == "table" and place[last] or {}
  end
  place[last], loaded[name] = module, module
  module._M, module._NAME, module._PACKAGE = module, name, name:match("^(.*%.)[^.]*$") or ""
  for _, option in ipairs({ ... }) do
    option(module)
  end
  setfenv(2, module)
end

function lib.loadfile(file)
  return rt.load_file(file, rt.running.env)
end

function lib.dofile(file)
  local main, problem = rt.load_file(file, rt.running.env)
  if not main then
    error(problem, 2)
  end
  return main()
end

local function seeall(module)
  setmetatable(module, { __index = rt.running.env })
end

rt.modules = lib

-- `package` for one client, in whose globals the standard libraries are already.
function rt.new_package(env)
  local loaded = { _G = env, ["jit.opt"] = rt.jit_opt }
  for _, name in ipairs({ "string", "table", "bit", "jit", "debug", "math", "os", "io",
    "coroutine", "ffi" }) do
    loaded[name] = env[name]
  end
  local package = {
    loaded = loaded, preload = {}, path = host.package_path, cpath = host.package_cpath,
    config = rt.real_package.config, loadlib = rt.real_package.loadlib, seeall = seeall,
    loaders = { find_preloaded, find_lua, find_c },
  }
  loaded.package = package
  return package
end
