-- Sends ready-made requests in random order, and tells the result as one line of JSON.
--
--   wrk -s wrk.lua URL -- FIRST FILE
--
-- FIRST is the first revision that no run before has used. The file holds, request by request,
-- "<bytes> <place of the revision, or 0>\n" and the request itself. What is not needed for every request is done
-- before the clock starts.

local REVISION_DIGITS = 10
local threads = 0

function setup(thread)
   thread:set("number", threads)
   threads = threads + 1
end

local function read(path)
   local file = assert(io.open(path, "rb"))
   local requests = {}
   while true do
      local bytes, place = file:read("*n", "*n")
      if not bytes then break end
      file:read(1)
      local text = file:read(bytes)
      if place == 0 then
         requests[#requests + 1] = { whole = text }
      else
         requests[#requests + 1] = { before = text:sub(1, place), after = text:sub(place + REVISION_DIGITS + 1) }
      end
   end
   file:close()
   return requests
end

local requests, revision

function init(args)
   -- The threads' revisions do not meet: no run makes so many requests.
   revision = tonumber(args[1]) + number * 4000000
   math.randomseed(revision + 1)
   requests = read(args[2])
end

function request()
   local chosen = requests[math.random(#requests)]
   if chosen.whole then return chosen.whole end
   revision = revision + 1
   return chosen.before .. string.format("%010d", revision) .. chosen.after
end

function done(summary, latency)
   local errors = summary.errors
   io.write(string.format(
      '\n{"answers": %d, "seconds": %.6f, "bytes": %d, "p50_ms": %.4f, "p99_ms": %.4f, "errors": ' ..
      '{"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
      summary.requests, summary.duration / 1e6, summary.bytes,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
      errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
