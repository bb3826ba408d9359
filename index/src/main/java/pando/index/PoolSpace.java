package pando.index;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.pool.ServerSpace;
import pando.fabric.pool.ServerSpace.SizeSpace;

/**
 * Where every byte of a pool is: all {@link #parts} add up to the DRAM of its memory servers.
 * Immutable.
 *
 * <p>Memory servers know what compute servers have. What of that is in use is found by a walk of
 * the index, and what this process keeps for later is known here. The rest is with others.
 *
 * @param used what holds something: nodes, blobs
 * @param otherBytes what compute servers have besides: what other processes keep for later, what
 *     waits in sessions to be freed, what is not reached from the index, and what is lost. Wrong,
 *     and below 0 perhaps, where other processes change the pool meanwhile
 * @param unused what holds nothing, each part with a name of its own, as those in use have
 * @param problems what the walk could not follow, one text each
 */
public record PoolSpace(
    List<PoolPart> used, long otherBytes, List<PoolPart> unused, List<String> problems) {
  private static final PoolSpace NONE = new PoolSpace(List.of(), 0, List.of(), List.of());

  /** Keeps copies. */
  public PoolSpace {
    used = List.copyOf(used);
    unused = List.copyOf(unused);
    problems = List.copyOf(problems);
  }

  /** Asks the memory servers of a pool; what they have given out is with others. */
  public static PoolSpace of(Fabric fabric) {
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      PoolSpace space = NONE;
      for (int server = 0; server < fabric.memoryServers(); server++) {
        ServerSpace found = ServerSpace.of(fabric, server, worker, 0);
        space = space.plus(fabric.dramBytes(server)).withUnused(unused(found));
      }
      return space;
    }
  }

  private PoolSpace plus(long bytes) {
    return new PoolSpace(used, otherBytes + bytes, unused, problems);
  }

  private static List<PoolPart> unused(ServerSpace server) {
    List<PoolPart> parts = new ArrayList<>();
    for (SizeSpace size : server.sizes()) {
      long returnedBytes = size.returnedNodes() * size.nodeBytes();
      parts.add(
          new PoolPart("freed nodes, at memory servers", size.returnedNodes(), returnedBytes));
      parts.add(new PoolPart("behind the last nodes of chunks", size.restBytes()));
    }
    parts.add(new PoolPart("free parts of chunks", server.freePartBytes()));
    parts.add(new PoolPart("free chunks", server.freeChunkBytes()));
    parts.add(new PoolPart("catalogue", server.catalogueBytes()));
    parts.add(new PoolPart("behind the last chunk", server.padBytes()));
    return parts;
  }

  /** Returns this, with parts that are in use and were among the others' so far. */
  public PoolSpace withUsed(Collection<PoolPart> parts) {
    return new PoolSpace(joined(used, parts), otherBytes - bytes(parts), unused, problems);
  }

  /** Returns this, with parts that hold nothing and were among the others' so far. */
  public PoolSpace withUnused(Collection<PoolPart> parts) {
    return new PoolSpace(used, otherBytes - bytes(parts), joined(unused, parts), problems);
  }

  /** Returns this, with the nodes that a walk has found, and its problems. */
  PoolSpace with(Tree tree) {
    List<String> all = Stream.concat(problems.stream(), tree.problems().stream()).toList();
    return new PoolSpace(used, otherBytes, unused, all).withUsed(tree.parts());
  }

  /** Adds up parts of the same name. */
  private static List<PoolPart> joined(Collection<PoolPart> some, Collection<PoolPart> others) {
    Map<String, PoolPart> all = new LinkedHashMap<>();
    some.forEach(part -> all.put(part.name(), part));
    others.forEach(part -> all.merge(part.name(), part, PoolPart::plus));
    return List.copyOf(all.values());
  }

  /** Returns all parts. */
  public List<PoolPart> parts() {
    List<PoolPart> all = new ArrayList<>(used);
    all.add(new PoolPart("with others, or lost", otherBytes));
    all.addAll(unused);
    return all;
  }

  /** Returns the bytes of all parts. */
  public long bytes() {
    return bytes(parts());
  }

  /** Returns the bytes of what is in use. */
  public long usedBytes() {
    return bytes(used);
  }

  private static long bytes(Collection<PoolPart> parts) {
    return parts.stream().mapToLong(PoolPart::bytes).sum();
  }
}
