package pando.cluster;

import java.util.List;

/**
 * Where a cluster's entries are.
 *
 * <pre>
 *   config               what all servers need to agree on: written once, when the index is there
 *   generation           config of the last generation, where there are data folders; it may have ended
 *   rebuild              the data folder of the next generation, or why one must be chosen
 *   pool/N               memory server N: incarnation, address, bytes, state
 *   epochs/N             last epoch given to compute server N
 *   members/memory/N     announced by memory server N while it runs
 *   members/compute/N    announced by compute server N while it runs
 *   leader               announced by the compute server that leads
 *   leader-epoch         how often the leader has changed; checked by what a leader writes, but requests
 *   changes/ID           move, split, add, remove, fence: asked for, under way, done, failed
 *   change-count         changes that were ever asked for
 *   routes               copy of the pool's partition table, with addresses; may be old
 * </pre>
 */
public final class Folders {
  static final String CONFIG = "config";
  static final String GENERATION = "generation";
  static final String REBUILD = "rebuild";
  static final String LEADER = "leader";
  static final String LEADER_EPOCH = "leader-epoch";
  static final String CHANGE_COUNT = "change-count";
  static final String ROUTES = "routes";
  static final String POOL = "pool";
  static final String EPOCHS = "epochs";
  static final String CHANGES = "changes";
  static final String MEMBERS = "members";
  static final String MEMORY = "members/memory";
  static final String COMPUTE = "members/compute";

  /** All folders, each behind the one that it is in. */
  public static final List<String> ALL = List.of(POOL, EPOCHS, CHANGES, MEMBERS, MEMORY, COMPUTE);

  private Folders() {}

  static String of(String folder, int number) {
    return folder + "/" + number;
  }
}
