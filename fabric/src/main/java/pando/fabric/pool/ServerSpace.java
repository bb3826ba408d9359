package pando.fabric.pool;

import static pando.fabric.layout.SpaceMessage.bytes;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;

/**
 * Where all bytes of a memory server's DRAM are, as far as that knows.
 *
 * @param catalogueBytes bytes before the first chunk
 * @param padBytes bytes behind the last chunk
 * @param freeChunkBytes bytes of chunks that no compute server has
 * @param freePartBytes bytes of parts that no compute server has, of chunks that are divided
 * @param sizes what compute servers have, by the size of its nodes, the least first
 */
public record ServerSpace(
    long catalogueBytes,
    long padBytes,
    long freeChunkBytes,
    long freePartBytes,
    List<SizeSpace> sizes) {
  /** Keeps a copy. */
  public ServerSpace {
    sizes = List.copyOf(sizes);
  }

  /**
   * The chunks and parts that compute servers have for nodes of one size.
   *
   * @param nodes that were not returned
   * @param returnedNodes nodes that were returned, and wait at the memory server for reuse
   * @param restBytes bytes behind the last nodes of chunks and parts
   */
  public record SizeSpace(int nodeBytes, long nodes, long returnedNodes, long restBytes) {
    /** Returns the bytes of all this. */
    public long bytes() {
      return (nodes + returnedNodes) * nodeBytes + restBytes;
    }
  }

  /**
   * Asks a memory server. Exact while nothing is allocated or returned.
   *
   * @param worker issues the CALLs
   * @param message local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that the
   *     CALLs may overwrite
   */
  public static ServerSpace of(Fabric fabric, int server, Worker worker, long message) {
    worker.call(server, SpaceMessage.USAGE, message, 0);
    long capacityBytes = field(worker, message, 0);
    List<SizeSpace> sizes = new ArrayList<>();
    int found;
    do {
      long above = sizes.isEmpty() ? 0 : sizes.getLast().nodeBytes();
      Words.set(worker.memory(), message, above);
      int responseBytes = worker.call(server, SpaceMessage.SPACE, message, bytes(1));
      found = Math.clamp(field(worker, message, 2), 0, SpaceMessage.SIZES_MAX);
      int fields = SpaceMessage.SPACE_FIELDS + found * SpaceMessage.SIZE_FIELDS;
      if (responseBytes != bytes(fields)) {
        throw new CallFailedException(
            "damaged response to SPACE: server=%s, sizes=%s, responseBytes=%s"
                .formatted(server, found, responseBytes));
      }
      for (int i = 0; i < found; i++) {
        sizes.add(size(worker, message, SpaceMessage.SPACE_FIELDS + i * SpaceMessage.SIZE_FIELDS));
      }
    } while (found == SpaceMessage.SIZES_MAX);
    return new ServerSpace(
        Fabric.CATALOGUE_BYTES,
        fabric.dramBytes(server) - Fabric.CATALOGUE_BYTES - capacityBytes,
        field(worker, message, 0),
        field(worker, message, 1),
        sizes);
  }

  private static SizeSpace size(Worker worker, long message, int first) {
    long returned = field(worker, message, first + 2);
    return new SizeSpace(
        (int) field(worker, message, first),
        field(worker, message, first + 1) - returned,
        returned,
        field(worker, message, first + 3));
  }

  private static long field(Worker worker, long message, int number) {
    return Words.get(worker.memory(), message + bytes(number));
  }
}
