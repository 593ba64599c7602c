-- Every function of sysbench.rand, math.random and histograms. Needs no database.

local rand = sysbench.rand

local function within(from, to, draw, ...)
  for _ = 1, 200 do
    local value = draw(...)
    assert(value >= from and value <= to and value % 1 == 0, tostring(value))
  end
end

function event()
  for _, name in ipairs({ "default", "uniform", "gaussian", "special", "pareto", "zipfian" }) do
    within(5, 50, rand[name], 5, 50)
  end
  within(0, 4294967295, rand.unique)
  -- Numbers are taken without their fraction.
  within(1, 3, rand.uniform, 1.7, 3.9)
  within(1, 6, math.random, 6)
  within(3, 4, math.random, 3, 4)
  local unit = rand.uniform_double()
  assert(unit >= 0 and unit < 1)
  assert(type(rand.uniform_uint64()) == "cdata" and rand.uniform_uint64() ~= rand.uniform_uint64())
  assert(rand.string("##-@"):match("^%d%d%-%l$"))
  assert(#rand.varstring(3, 3) == 3)
  assert(not pcall(rand.uniform, 5))
  assert(not pcall(math.random, 5, 1))
  math.randomseed(7)
  local first = math.random()
  math.randomseed(7)
  assert(first == math.random())
  local histogram = sysbench.histogram.new(20, 0.01, 100)
  histogram:update(5)
  histogram:print()
  assert(not pcall(sysbench.histogram.new))
  assert(not pcall(function() return histogram.nope end))
end
