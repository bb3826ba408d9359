package pando.fabric.verbs;

/**
 * Memory that is registered with a card.
 *
 * @param address of its first byte
 * @param localKey names it in verbs of this side
 * @param remoteKey names it in verbs of others
 */
record Region(Libibverbs library, long region, long address, int localKey, int remoteKey)
    implements AutoCloseable {
  @Override
  public void close() {
    library.deregister(region);
  }
}
