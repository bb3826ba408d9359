package pando.index;

/**
 * The ranges of an index, which go from one compute server to another while operations run. The
 * compute servers concerned write back what only they have, and their operations wait meanwhile;
 * others are not affected.
 *
 * <p>A change is made in the process of the compute server that loses keys (the giver), or, if that
 * is lost, in the process of the one that gets them. The receiver may live in another process: it
 * serves its new keys once that process looks for them, by {@link #refreshPartitions} or as a
 * session there is asked for one. Until then no process serves them, and sessions throw {@link
 * NotServedHereException}, so inform the receiver's process at once.
 *
 * <p>Byte strings are cut at the key that is asked for. Of words, bounds of ranges are fences
 * between leaves: ORCA cuts a leaf at the key; the other systems round the key down to a fence, as
 * ORCA does where a part of a leaf would cover a single key, or the pool has no room for it.
 * Changes are made one at a time, under the lock of the partition table in the pool. Thread-safe.
 *
 * <p>An index of byte strings has one compute server in each process, which stays there without a
 * range when it is removed. Blocks and values stay where they are in the pool; a receiver READs its
 * new blocks once.
 */
public interface MovablePartitions {
  /**
   * Moves the boundary between a compute server's range and the one below it. The giver must live
   * in this process.
   *
   * @param server the compute server whose range starts at the boundary
   * @param low the key to move the boundary to
   * @return the least key of the server from now on; unchanged if no fence lies between
   * @throws IllegalArgumentException if {@code low} lies outside both ranges or is not of the kind
   *     that the index has, or the giver lives in another process
   */
  BoundKey moveBoundary(int server, BoundKey low);

  /** As {@link #moveBoundary(int, BoundKey)}, of numbers. */
  default long moveBoundary(int server, long low) {
    return moveBoundary(server, BoundKey.of(low)).number();
  }

  /**
   * Gives the upper part of a compute server's range to a new compute server in this process. The
   * giver must live here, too.
   *
   * @param server the giver
   * @param key where the new range starts
   * @return the new compute server's number, or -1 if no fence lies between
   * @throws UnsupportedOperationException if the index has byte strings
   */
  int split(int server, long key);

  /**
   * Gives the upper part of a compute server's range to one that has no range. The giver must live
   * in this process; the receiver may have {@linkplain IndexOptions#joinAt joined} in another.
   *
   * @param server the giver
   * @param key where the new range starts
   * @param receiver number of the receiver
   * @return whether it has been given; {@code false} if no fence lies between
   * @throws IllegalArgumentException if the key does not split the giver's range, the giver lives
   *     in another process, or the receiver has a range
   */
  boolean split(int server, BoundKey key, int receiver);

  /** As {@link #split(int, BoundKey, int)}, of numbers. */
  default boolean split(int server, long key, int receiver) {
    return split(server, BoundKey.of(key), receiver);
  }

  /**
   * Adds a compute server to this process; it gets about half of another's range.
   *
   * @param from the giver; it must live in this process
   * @return the new compute server's number, or -1 if the range is a single leaf
   * @throws UnsupportedOperationException if the index has byte strings
   */
  int addComputeServer(int from);

  /**
   * Gives about half of a compute server's range to one that has no range. Else as {@link
   * #split(int, BoundKey, int)}.
   *
   * @param from the giver
   * @param receiver number of the receiver
   * @return whether it has been given; {@code false} if the range is a single leaf, or, of byte
   *     strings, no key lies in the middle
   */
  boolean addComputeServer(int from, int receiver);

  /**
   * Removes a compute server of this process. Its range goes to the owner of the range below, or,
   * for the lowest range, to the owner of the range above.
   *
   * @throws IllegalArgumentException if it is the only one, or does not live in this process
   */
  void removeComputeServer(int server);

  /**
   * Gives the range of a lost compute server to one in this process, which has the range beside it
   * or none. What the lost one had not written back is not there. Does nothing if it has no range
   * (any more).
   *
   * <p>The lost one must be unable to change anything any more, and to answer from its caches:
   * {@linkplain pando.fabric.Fabric#fence fence} it by this index's fabric, and let its lease run
   * out, before. That there was such a fence is checked, where the fabric has fences; nothing else
   * is.
   *
   * @param lost the compute server that is lost
   * @param heir the compute server that gets its range
   * @throws IllegalArgumentException if the lost one lives in this process, the heir in another, or
   *     the heir's range lies elsewhere
   * @throws IllegalStateException if this index's fabric has fences, and has not fenced the lost
   *     one
   */
  void takeOver(int lost, int heir);

  /**
   * Estimates the number of entries of a compute server's range, by looking at a few nodes. Waits
   * as an operation does.
   *
   * @param server the compute server; it must live in this process, with or without a range
   */
  long sizeEstimate(int server);

  /** Returns whether a compute server lives in this process, with or without a range. */
  boolean isHere(int server);

  /** Adopts the partitions that the pool has now; another process may have changed them. */
  void refreshPartitions();

  /** Returns the partitions that the pool has now, and adopts nothing: waits for no lock. */
  Partitioning readPartitions();

  /** Has sessions that are opened from now on answer only while a lease is held. */
  void answerWhile(Lease lease);
}
