-- Programs of `io.popen`: what Lua's own files do, on pipes that the host reads and writes.

local rt = ...
local host = rt.host

local Program = {}
Program.__index = Program

function Program:__tostring()
  return self.pipe and "file (program)" or "file (closed)"
end

local function pipe_of(program)
  if not program.pipe then
    error("attempt to use a closed file", 3)
  end
  return program.pipe
end

-- As C has it where a file is read that is written, or the other way round.
local function bad_direction()
  return nil, "Bad file descriptor", 9
end

local function read_one(pipe, format)
  if type(format) == "number" then
    return pipe:bytes(format)
  end
  local letter = type(format) == "string" and format:match("^%*?(.)")
  if letter == "n" then
    return pipe:number()
  elseif letter == "l" or letter == "L" then
    return pipe:line(letter == "L")
  elseif letter == "a" then
    return pipe:all()
  end
  error("bad argument to 'read' (invalid format)", 3)
end

function Program:read(...)
  local pipe = pipe_of(self)
  if not self.reads then
    return bad_direction()
  end
  local found, count = {}, select("#", ...)
  if count == 0 then
    return pipe:line(false)
  end
  for index = 1, count do
    found[index] = read_one(pipe, (select(index, ...)))
    if found[index] == nil then
      return unpack(found, 1, index)
    end
  end
  return unpack(found, 1, count)
end

function Program:lines(...)
  pipe_of(self)
  if not self.reads then
    error("Bad file descriptor", 2)
  end
  local formats, count = { ... }, select("#", ...)
  return function() return self:read(unpack(formats, 1, count)) end
end

function Program:write(...)
  local pipe = pipe_of(self)
  if self.reads then
    return bad_direction()
  end
  for index = 1, select("#", ...) do
    local text = select(index, ...)
    local kind = type(text)
    if kind ~= "string" and kind ~= "number" then
      error("bad argument #" .. index .. " to 'write' (string expected, got " .. kind .. ")", 2)
    end
    local problem, number = pipe:write(text)
    if problem then
      return nil, problem, number
    end
  end
  return true
end

function Program:close()
  local pipe = pipe_of(self)
  self.pipe = nil
  local problem, number = pipe:close()
  if problem then
    return nil, problem, number
  end
  return true
end

-- Nothing is held back.
function Program:flush()
  pipe_of(self)
  return true
end

function Program:setvbuf()
  pipe_of(self)
  return true
end

function Program:seek()
  pipe_of(self)
  return nil, "Illegal seek", 29
end

-- What `io.type` says of it; nil: it is something else.
function rt.program_type(file)
  if getmetatable(file) == Program then
    return file.pipe and "file" or "closed file"
  end
end

function rt.open_program(command, mode)
  if type(command) ~= "string" and type(command) ~= "number" then
    error("bad argument #1 to 'popen' (string expected, got " .. type(command) .. ")", 3)
  end
  -- An `e` changes nothing: programs have no pipes but their own.
  local kind = tostring(mode or "r"):gsub("e", "")
  if kind ~= "r" and kind ~= "w" then
    return nil, command .. ": Invalid argument", 22
  end
  local pipe, problem, number = host.open_program(command, kind == "r")
  if not pipe then
    return nil, command .. ": " .. problem, number
  end
  return setmetatable({ pipe = pipe, reads = kind == "r" }, Program)
end
