package pando.cluster;

import java.lang.System.Logger.Level;
import java.util.Optional;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/**
 * How a compute server whose session with the coordinator has ended comes back into its cluster, as
 * the start of its number that it is, with its range and its caches. It may do so as long as nobody
 * has fenced it.
 *
 * <p>Each fence raises the epoch of its number in the coordinator first. The commit that announces
 * a compute server again compares that epoch, and gives it another version. So either this commit
 * comes first, and a leader that has missed the compute server before cannot raise the epoch that
 * it saw; or the epoch was raised first, and the compute server is not announced. The memory
 * servers are asked besides, as they know of fences that the coordinator has forgotten.
 */
final class Rejoining {
  private static final System.Logger LOG = System.getLogger(Rejoining.class.getName());

  private final RenewedMembership membership;
  private final Fabric fabric;

  Rejoining(RenewedMembership membership, Fabric fabric) {
    this.membership = membership;
    this.fabric = fabric;
  }

  /**
   * Opens another session and announces a compute server again.
   *
   * @param member as it was announced before
   * @return whether it was announced; if not, try again
   * @throws FencedException if others have taken over what it had, or do so
   */
  boolean joinAgain(Member member) {
    boolean joined = membership.renew(state -> announce(state, member));
    if (joined) {
      LOG.log(
          Level.WARNING,
          "the session with the coordinator had ended, nobody has fenced this compute server, and"
              + " it"
              + " goes on with all that it has; nothing is lost: number=%s, epoch=%s"
                  .formatted(member.number(), member.epoch()));
    }
    return joined;
  }

  private boolean announce(ClusterState state, Member member) {
    ClusterState.Versioned<Long> epoch = state.epoch(member.number());
    if (!PlantedClusterBug.REJOINED_UNLOOKED) {
      if (epoch.value() != member.epoch()) {
        throw new FencedException(
            "fenced while it had no session with the coordinator: number=%s, epoch=%s, epoch now=%s"
                .formatted(member.number(), member.epoch(), epoch.value()));
      }
      askMemoryServers();
    }
    return state.announceAgain(member, epoch);
  }

  /** Throws {@link FencedException} if a memory server refuses this compute server. */
  private void askMemoryServers() {
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      for (int server = 0; server < fabric.memoryServers(); server++) {
        lossOf(worker, server)
            .ifPresent(loss -> LOG.log(Level.DEBUG, "its fences are gone with its memory", loss));
      }
    }
  }

  private static Optional<MemoryServerLostException> lossOf(Worker worker, int server) {
    try {
      worker.read(GlobalAddress.of(server, 0), 0, Long.BYTES);
      return Optional.empty();
    } catch (MemoryServerLostException e) {
      return Optional.of(e);
    }
  }
}
