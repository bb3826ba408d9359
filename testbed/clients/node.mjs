// Four clients for Node.js with their defaults and with each protocol that can be asked for: node.mjs HOST PORT
import assert from "node:assert/strict";
import { Decoder, GlideClient, ProtocolVersion } from "@valkey/valkey-glide";
import Redis from "ioredis";
import Valkey from "iovalkey";
import { RESP_TYPES, createClient } from "redis";

const [host, port] = [process.argv[2] ?? "127.0.0.1", Number(process.argv[3] ?? 6379)];
const binary = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const big = Buffer.alloc(5_000_000, "x");
const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, `v${i}`]));

async function nodeRedis(options) {
  const client = await createClient({ socket: { host, port, reconnectStrategy: false }, ...options }).connect();
  await client.flushDb();
  assert.equal(await client.set("a", "1"), "OK");
  assert.equal(await client.get("a"), "1");
  assert.equal(await client.get("no"), null);
  await client.mSet(many);
  const found = [];
  for await (const keys of client.scanIterator({ MATCH: "k*", COUNT: 7 })) found.push(...keys);
  assert.equal(new Set(found).size, 100);
  assert.equal(await client.incr("n"), 1);
  const replies = await Promise.all(Array.from({ length: 1000 }, (_, i) => client.set(`p${i}`, `${i}`)));
  assert.ok(replies.every((reply) => reply === "OK"));
  await client.set(binary, binary);
  const buffers = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  assert.deepEqual(await buffers.get(binary), binary);
  await client.set("big", big);
  assert.deepEqual(await buffers.get("big"), big);
  assert.equal(await client.zAdd("z", { score: 1.5, value: "a" }), 1);
  assert.equal(await client.zScore("z", "a"), 1.5);
  assert.deepEqual({ ...(await client.configGet("save")) }, { save: "" });
  await client.set("text", "x");
  await assert.rejects(client.incr("text"), /not an integer/);
  assert.deepEqual(await client.multi().incr("m").exec(), [1]);
  assert.equal(await client.get("m"), "1");
  await client.close();
}

async function ioRedis(Client) {
  const client = new Client({ host, port, retryStrategy: () => null });
  await client.flushdb();
  assert.equal(await client.set("a", "1"), "OK");
  assert.equal(await client.get("a"), "1");
  assert.equal(await client.get("no"), null);
  await client.mset(many);
  const found = [];
  for await (const keys of client.scanStream({ match: "k*", count: 7 })) found.push(...keys);
  assert.equal(new Set(found).size, 100);
  assert.equal(await client.incr("n"), 1);
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.set(`p${i}`, i);
  assert.ok((await pipeline.exec()).every(([error, reply]) => error === null && reply === "OK"));
  await client.set(binary, binary);
  assert.deepEqual(await client.getBuffer(binary), binary);
  await client.set("big", big);
  assert.deepEqual(await client.getBuffer("big"), big);
  assert.equal(await client.zadd("z", 1.5, "a"), 1);
  assert.equal(Number(await client.zscore("z", "a")), 1.5);
  await client.set("text", "x");
  await assert.rejects(client.incr("text"), /not an integer/);
  assert.deepEqual(await client.multi().incr("m").exec(), [[null, 1]]);
  assert.equal(await client.get("m"), "1");
  await client.quit();
}

async function glide(options) {
  const client = await GlideClient.createClient({ addresses: [{ host, port }], requestTimeout: 20_000, ...options });
  await client.flushdb();
  assert.equal(await client.set("a", "1"), "OK");
  assert.equal(await client.get("a"), "1");
  assert.equal(await client.get("no"), null);
  await client.mset(many);
  const found = [];
  let cursor = "0";
  do {
    const [next, keys] = await client.scan(cursor, { match: "k*", count: 7 });
    found.push(...keys);
    cursor = next;
  } while (cursor !== "0");
  assert.equal(new Set(found).size, 100);
  assert.equal(await client.incr("n"), 1);
  const replies = await Promise.all(Array.from({ length: 1000 }, (_, i) => client.set(`p${i}`, `${i}`)));
  assert.ok(replies.every((reply) => reply === "OK"));
  await client.set(binary, binary);
  assert.deepEqual(await client.get(binary, { decoder: Decoder.Bytes }), binary);
  await client.set("big", big);
  assert.deepEqual(await client.get("big", { decoder: Decoder.Bytes }), big);
  assert.equal(await client.zadd("z", { a: 1.5 }), 1);
  assert.equal(await client.zscore("z", "a"), 1.5);
  await client.set("text", "x");
  await assert.rejects(client.incr("text"), /not an integer/);
  client.close();
}

const programs = [
  ["node-redis", "defaults", () => nodeRedis({})],
  ["node-redis", "RESP 2", () => nodeRedis({ RESP: 2 })],
  ["node-redis", "RESP 3", () => nodeRedis({ RESP: 3 })],
  ["ioredis", "defaults", () => ioRedis(Redis)],
  ["iovalkey", "defaults", () => ioRedis(Valkey)],
  ["valkey-glide", "defaults", () => glide({})],
  ["valkey-glide", "RESP 2", () => glide({ protocol: ProtocolVersion.RESP2 })],
  ["valkey-glide", "RESP 3", () => glide({ protocol: ProtocolVersion.RESP3 })],
];
let failed = 0;
for (const [client, form, program] of programs) {
  try {
    await program();
    console.log(`${client}, ${form}: as expected`);
  } catch (error) {
    failed++;
    console.log(`${client}, ${form}: FAILED`, error);
  }
}
process.exit(failed === 0 ? 0 : 1);
