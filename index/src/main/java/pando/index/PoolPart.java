package pando.index;

/**
 * Bytes of a pool that are used for one thing.
 *
 * @param name such as {@code leaves}
 * @param count of nodes, blobs or other places; 0 if they are not counted
 * @param bytes of the pool
 * @param held what is in them: entries, children or bytes
 * @param room how much of that they have room for; 0 if that does not apply
 */
public record PoolPart(String name, long count, long bytes, long held, long room) {
  /** Makes a part that is not said to hold anything. */
  public PoolPart(String name, long count, long bytes) {
    this(name, count, bytes, 0, 0);
  }

  /** Makes a part whose places are not counted. */
  public PoolPart(String name, long bytes) {
    this(name, 0, bytes);
  }

  /** Returns this and another part of the same name as one. */
  PoolPart plus(PoolPart other) {
    return new PoolPart(
        name, count + other.count, bytes + other.bytes, held + other.held, room + other.room);
  }
}
