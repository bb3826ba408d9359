# redis-rb with its defaults: ruby_client.rb HOST PORT
require "redis"

host, port = ARGV[0] || "127.0.0.1", (ARGV[1] || 6379).to_i

def expect(wanted, found)
  raise "wanted #{wanted.inspect}, found #{found.inspect[0, 100]}" unless wanted == found
end

def refused(text)
  yield
rescue Redis::CommandError => error
  raise error unless error.message.include?(text)
else
  raise "no error: #{text}"
end

begin
  client = Redis.new(host: host, port: port)
  client.flushdb
  expect "OK", client.set("a", "1")
  expect "1", client.get("a")
  expect nil, client.get("no")
  client.mset((0...100).flat_map { |i| ["k#{i}", "v#{i}"] })
  expect 100, client.scan_each(match: "k*", count: 7).uniq.size
  expect 1, client.incr("n")
  expect ["OK"] * 1000, client.pipelined { |pipeline| 1000.times { |i| pipeline.set("p#{i}", i) } }
  binary = (0..255).to_a.pack("C*")
  client.set(binary, binary)
  expect binary, client.get(binary).b
  big = "x" * 5_000_000
  client.set("big", big)
  expect big, client.get("big")
  expect true, client.zadd("z", 1.5, "a")
  expect 1.5, client.zscore("z", "a")
  client.set("text", "x")
  refused("not an integer") { client.incr("text") }
  expect [1], client.multi { |transaction| transaction.incr("m") }
  expect "1", client.get("m")
  client.close
  puts "redis-rb #{Redis::VERSION}, defaults: as expected"
rescue StandardError => error
  puts "redis-rb #{Redis::VERSION}, defaults: FAILED #{error.full_message}"
  exit 1
end
