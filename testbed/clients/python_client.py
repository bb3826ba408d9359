"""redis-py with its defaults and with each protocol: python_client.py HOST PORT"""

import sys

import redis

HOST = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1"
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 6379


def refused(call, text):
    try:
        call()
    except redis.ResponseError as error:
        assert text in str(error), error
    else:
        raise AssertionError("no error: " + text)


def program(**options):
    client = redis.Redis(host=HOST, port=PORT, **options)
    client.flushdb()
    assert client.set("a", "1")
    assert client.get("a") == b"1"
    assert client.get("no") is None
    assert client.mset({f"k{i}": f"v{i}" for i in range(100)})
    assert len(set(client.scan_iter("k*", count=7))) == 100
    assert client.incr("n") == 1
    pipeline = client.pipeline(transaction=False)
    for i in range(1000):
        pipeline.set(f"p{i}", i)
    assert all(pipeline.execute())
    binary = bytes(range(256))
    client.set(binary, binary)
    assert client.get(binary) == binary
    big = b"x" * 5_000_000
    client.set("big", big)
    assert client.get("big") == big
    assert client.zadd("z", {"a": 1.5}) == 1
    assert client.zscore("z", "a") == 1.5
    assert client.config_get("save") == {"save": ""}
    client.set("text", "x")
    refused(lambda: client.incr("text"), "not an integer")
    transaction = client.pipeline()
    transaction.incr("m")
    transaction.get("m")
    assert [int(value) for value in transaction.execute()] == [1, 1]
    assert int(client.get("m")) == 1
    client.close()


failed = 0
for form, options in [("defaults", {}), ("RESP 2", {"protocol": 2}), ("RESP 3", {"protocol": 3})]:
    try:
        program(**options)
        print(f"redis-py {redis.__version__}, {form}: as expected")
    except Exception as error:  # each form is tried
        failed += 1
        print(f"redis-py {redis.__version__}, {form}: FAILED", repr(error))
sys.exit(1 if failed else 0)
