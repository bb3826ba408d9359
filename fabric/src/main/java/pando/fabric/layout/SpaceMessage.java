package pando.fabric.layout;

import pando.fabric.Worker;

/**
 * The CALLs by which compute servers take space and give it back. All fields are 8 bytes. Offsets
 * of nodes are bytes from the start of DRAM.
 *
 * <pre>
 *  ALLOCATE     request    type, usedBytes
 *               response   CHUNK, bytes of the chunk or part, its offset
 *                       or NODES, count, offset of each node
 *                       or FULL, capacityBytes, reservedBytes, usedBytes
 *  RELEASE      request    type, count, offset of each node
 *               response   empty
 *  RELEASE_RUN  request    type, count, offset of the first of adjacent nodes
 *               response   empty
 *  USAGE        request    empty
 *               response   capacityBytes, reservedBytes, usedBytes, chunkBytes, partBytes
 *  SPACE        request    nodeBytes
 *               response   freeChunkBytes, freePartBytes, sizes,
 *                          for each of the next sizes of nodes above nodeBytes, in order:
 *                          nodeBytes, nodes, returnedNodes, restBytes
 * </pre>
 *
 * <p>A {@linkplain #type type} is the size of nodes, and whether they last: then their memory is
 * never used for anything else. A request for space contains the bytes that the compute server uses
 * for nodes of this size at this memory server; while they are less than a chunk, it gets a part of
 * one. The answer to SPACE has as many sizes as a message has room for; none are left when it has
 * fewer.
 */
public final class SpaceMessage {
  /** Function number: asks for a chunk, or for nodes that were returned. */
  public static final int ALLOCATE = 1;

  /** Function number: returns nodes. */
  public static final int RELEASE = 2;

  /** Function number: returns adjacent nodes of one chunk. */
  public static final int RELEASE_RUN = 3;

  /** Function number: asks how much of the pool is in use. */
  public static final int USAGE = 4;

  /** Function number: asks where all bytes of the pool are. */
  public static final int SPACE = 5;

  /** Kind of a response to ALLOCATE: a chunk or a part of one, of which no node is in use. */
  public static final long CHUNK = 1;

  /** Kind of a response to ALLOCATE: single nodes that were returned before. */
  public static final long NODES = 2;

  /** Kind of a response to ALLOCATE: nothing is left. */
  public static final long FULL = 3;

  /** Nodes that one message can name. */
  public static final int NODES_MAX = Worker.CALL_BYTES_MAX / Long.BYTES - 2;

  /** Fields of a response to SPACE before the sizes. */
  public static final int SPACE_FIELDS = 3;

  /** Fields of a size in a response to SPACE. */
  public static final int SIZE_FIELDS = 4;

  /** Sizes that one response to SPACE can have. */
  public static final int SIZES_MAX =
      (Worker.CALL_BYTES_MAX / Long.BYTES - SPACE_FIELDS) / SIZE_FIELDS;

  static {
    assert bytes(2 + NODES_MAX) <= Worker.CALL_BYTES_MAX;
  }

  /** Sizes of nodes are multiples of 64, so that their lowest bit is free. */
  private static final long LASTS = 1;

  private SpaceMessage() {}

  /** Returns the word for nodes of a size. */
  public static long type(int nodeBytes, boolean lasts) {
    return lasts ? nodeBytes | LASTS : nodeBytes;
  }

  /** Returns the size of nodes of a type. */
  public static long nodeBytes(long type) {
    return type & ~LASTS;
  }

  /** Returns whether nodes of a type last. */
  public static boolean lasts(long type) {
    return (type & LASTS) != 0;
  }

  /** Returns a type as text, for messages. */
  public static String text(long type) {
    return nodeBytes(type) + (lasts(type) ? " bytes, lasting" : " bytes");
  }

  /**
   * Returns the offset of a field by its number, which is also the size of the fields before it.
   */
  public static int bytes(int fields) {
    return fields * Long.BYTES;
  }
}
