<?php
// phpredis with its defaults: php_client.php HOST PORT

function expect($wanted, $found): void
{
    if ($wanted !== $found) {
        throw new Exception("wanted " . substr(var_export($wanted, true), 0, 100)
            . ", found " . substr(var_export($found, true), 0, 100));
    }
}

$version = "phpredis " . phpversion("redis");
try {
    $client = new Redis();
    $client->connect($argv[1] ?? "127.0.0.1", (int) ($argv[2] ?? 6379));
    $client->flushDb();
    expect(true, $client->set("a", "1"));
    expect("1", $client->get("a"));
    expect(false, $client->get("no"));
    $many = [];
    for ($i = 0; $i < 100; $i++) {
        $many["k$i"] = "v$i";
    }
    expect(true, $client->mSet($many));
    $found = [];
    $cursor = null;
    $client->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
    while ($keys = $client->scan($cursor, "k*", 7)) {
        $found = array_merge($found, $keys);
    }
    expect(100, count(array_unique($found)));
    expect(1, $client->incr("n"));
    $pipeline = $client->multi(Redis::PIPELINE);
    for ($i = 0; $i < 1000; $i++) {
        $pipeline->set("p$i", $i);
    }
    expect(array_fill(0, 1000, true), $pipeline->exec());
    $binary = implode(array_map("chr", range(0, 255)));
    $client->set($binary, $binary);
    expect($binary, $client->get($binary));
    $big = str_repeat("x", 5000000);
    $client->set("big", $big);
    expect($big, $client->get("big"));
    expect(1, $client->zAdd("z", 1.5, "a"));
    expect(1.5, $client->zScore("z", "a"));
    $client->set("text", "x");
    expect(false, $client->incr("text"));
    expect(true, str_contains($client->getLastError(), "not an integer"));
    $client->close();
    echo "$version, defaults: as expected\n";
} catch (Throwable $error) {
    echo "$version, defaults: FAILED $error\n";
    exit(1);
}
