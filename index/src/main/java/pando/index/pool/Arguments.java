package pando.index.pool;

import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.server.CallFailedException;
import pando.index.IndexOptions;

/** Checks of callers' arguments that all systems share. */
public final class Arguments {
  private static final int NODE_ALIGNMENT = 64;

  private Arguments() {}

  /** Checks the options of an index, and the range of compute servers that a process will run. */
  public static void checkServers(IndexOptions options, int first, int count) {
    options.check();
    if (first < 0 || count < 1 || first > options.computeServers() - count) {
      throw new IllegalArgumentException(
          "no such compute servers: first=%s, count=%s, compute-servers=%s"
              .formatted(first, count, options.computeServers()));
    }
  }

  /** Checks the options of an index, and the number of a compute server that may have no range. */
  public static void checkServer(IndexOptions options, int number) {
    options.check();
    if (number < 0 || number >= IndexOptions.COMPUTE_SERVERS_MAX) {
      throw new IllegalArgumentException(
          "no such compute server: number=%s, maximum=%s"
              .formatted(number, IndexOptions.COMPUTE_SERVERS_MAX - 1));
    }
  }

  /**
   * Checks that every memory server has a handler, which answers a request of no bytes.
   *
   * @param system that needs it, for the message
   */
  public static void checkHandlers(Fabric fabric, String system, int function) {
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      for (int server = 0; server < fabric.memoryServers(); server++) {
        checkHandler(worker, server, system, function);
      }
    }
  }

  private static void checkHandler(Worker worker, int server, String system, int function) {
    try {
      worker.call(server, function, 0, 0);
    } catch (CallFailedException e) {
      throw new IllegalArgumentException(
          ("a memory server lacks the handler of %s: open the pool with"
                  + " PoolOptions.withHandlers(Systems.handlers()), in a program that has this"
                  + " system: memoryServer=%s, function=%s")
              .formatted(system, server, function),
          e);
    }
  }

  /** Checks the size of a node in bytes. */
  public static void checkNodeBytes(int nodeBytes, int least, int greatest) {
    if (nodeBytes < least || nodeBytes > greatest || nodeBytes % NODE_ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "node size must be a multiple of 64: nodeBytes=%s, least=%s, greatest=%s"
              .formatted(nodeBytes, least, greatest));
    }
  }

  /** Checks the share of each node that a bulk load fills. */
  public static void checkFill(double fill) {
    if (!(fill > 0 && fill <= 1)) {
      throw new IllegalArgumentException("fill must be above 0 and at most 1: fill=" + fill);
    }
  }
}
