package pando.cli.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.cli.text.Numbers;
import pando.cluster.Change;
import pando.cluster.Member;
import pando.cluster.PoolEntry;
import pando.cluster.ServerState;

/** What a cluster has lost from one look at it to the next. For one thread. */
final class SeenLosses {
  /** Compute servers that had a range when they were seen last, by number. */
  private final Map<Integer, Member> owners = new HashMap<>();

  private final Set<String> known = new HashSet<>();
  private boolean isFirst = true;

  /** Returns a line for each loss since the look before; none for the first look. */
  List<String> look(ClusterReport report) {
    List<String> lines = new ArrayList<>();
    for (Change change : report.changes()) {
      if (change.isFence()
          && change.state() == Change.State.DONE
          && known.add("change " + change.id())) {
        lines.add(ended(change.server(), owners.remove(change.server())));
      }
    }
    for (Member server : report.computeServers()) {
      Member before = owners.put(server.number(), server);
      if (before != null && before.epoch() < server.epoch()) {
        // Another start of it was faster than others who could have taken over its range.
        lines.add(ended(before.number(), before));
      }
    }
    owners.keySet().retainAll(ownersOf(report));
    for (PoolEntry server : report.memoryServers()) {
      if (server.state() == ServerState.LOST
          && known.add("memory server " + server.number() + " " + server.incarnation())) {
        lines.add("memory server %d was lost, with all that it held".formatted(server.number()));
      }
    }
    boolean first = isFirst;
    isFirst = false;
    return first ? List.of() : lines;
  }

  private static Set<Integer> ownersOf(ClusterReport report) {
    Set<Integer> all = new HashSet<>();
    report.routes().ifPresent(routes -> routes.routes().forEach(route -> all.add(route.owner())));
    return all;
  }

  /** What it had not written it may have written as it ended. */
  private static String ended(int number, @Nullable Member lastSeen) {
    return lastSeen == null
        ? "compute server %d ended".formatted(number)
        : "compute server %d ended; what it had not written is lost, about %s if it was killed"
            .formatted(number, Numbers.binary(lastSeen.unwritten().bytes()));
  }
}
