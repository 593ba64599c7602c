-- Files and modules of scripts: compiled once per state, run once per client.
--
-- A file is compiled as the body of a function, and each client gets a function of its own made
-- from it: they share their code and what the compiler made of it, but not their globals.

local rt = ...
local host = rt.host
local open, concat = io.open, table.concat
local loadstring, setfenv, getfenv = loadstring, setfenv, getfenv
local compiled = {}

local function read(file)
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
  local name, make = "@" .. file, nil
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

-- `package`, `require` and the like for one client.
function rt.give_modules(env)
  local loaded = { _G = env }
  local package = {
    loaded = loaded, preload = {}, path = host.package_path, cpath = host.package_cpath,
    config = rt.real_package.config, loadlib = rt.real_package.loadlib,
    seeall = function(module) setmetatable(module, { __index = env }) end,
  }
  package.loaders = {
    function(name)
      return package.preload[name] or "\n\tno field package.preload['" .. name .. "']"
    end,
    function(name)
      local file, tried = search(package.path, name)
      if not file then
        return tried
      end
      local main, problem = rt.load_file(file, env)
      if not main then
        error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. problem, 0)
      end
      return main
    end,
    function(name)
      rt.real_package.cpath = package.cpath
      return rt.real_package.loaders[3](name)
    end,
  }
  local function require(name)
    if type(name) ~= "string" then
      error("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")", 2)
    end
    if loaded[name] ~= nil then
      return loaded[name]
    end
    local tried = {}
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
  local function module(name, ...)
    local table = type(loaded[name]) == "table" and loaded[name] or {}
    local place, last = env, name
    for part in name:gmatch("([^.]+)%.") do
      place[part] = place[part] or {}
      place, last = place[part], last:sub(#part + 2)
    end
    table = type(place[last]) == "table" and place[last] or table
    place[last], loaded[name] = table, table
    table._M, table._NAME, table._PACKAGE = table, name, name:match("^(.*%.)[^.]*$") or ""
    for _, option in ipairs({ ... }) do
      option(table)
    end
    setfenv(2, table)
  end
  env.package, env.require, env.module = package, require, module
  env.loadfile = function(file) return rt.load_file(file, getfenv(2)) end
  env.dofile = function(file)
    local main, problem = rt.load_file(file, env)
    if not main then
      error(problem, 2)
    end
    return main()
  end
  return loaded
end
