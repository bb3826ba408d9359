package pando.bench.run;

/**
 * The subject of a plan, and its servers.
 *
 * @param index name of the index, or of the peer
 * @param fabric name of the fabric, {@code none} for a peer
 * @param computeServers of the index, 0 for a peer
 * @param memoryServers of the fabric, 0 for a peer
 * @param cacheBytesPerServer of each compute server, 0 for a peer
 */
public record Setup(
    String index, String fabric, int computeServers, int memoryServers, long cacheBytesPerServer) {

  /** Returns the setup of a peer, which has no fabric. */
  public static Setup peer(String name) {
    return new Setup(name, "none", 0, 0, 0);
  }

  /** Returns whether this is a peer. */
  public boolean isPeer() {
    return computeServers == 0;
  }
}
