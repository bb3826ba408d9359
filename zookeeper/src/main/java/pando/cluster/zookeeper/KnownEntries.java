package pando.cluster.zookeeper;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import pando.cluster.Entry;

/**
 * What was read of nodes under a watch, until they change.
 *
 * <p>Any thread looks up; the client's event thread alone learns and forgets. It receives answers
 * and events in the order in which the server sent them, so at each moment all that is known was
 * true at once, and is as new as each answer before.
 */
final class KnownEntries {
  /** What is known of a node: its entry, empty if there is none. */
  record Known(Optional<Entry> entry) {}

  private final Map<String, Known> entries = new ConcurrentHashMap<>();

  /** Of the nodes right below a node. */
  private final Map<String, List<String>> names = new ConcurrentHashMap<>();

  /** Returns what is known of a node; {@code null} for nothing. */
  @Nullable Known entry(String node) {
    return entries.get(node);
  }

  /** Returns the names of the nodes right below a node, {@code null} if they are not known. */
  @Nullable List<String> names(String node) {
    return names.get(node);
  }

  void learnEntry(String node, Optional<Entry> entry) {
    entries.put(node, new Known(entry));
  }

  void learnNames(String node, List<String> below) {
    names.put(node, below);
  }

  /** Forgets what an event makes old; all, where the session or its connection is another. */
  void forget(WatchedEvent event) {
    String node = event.getPath();
    if (event.getType() == EventType.None || node == null) {
      // A watch does not report what changes while its client is cut off.
      entries.clear();
      names.clear();
      return;
    }
    entries.remove(node);
    if (event.getType() != EventType.NodeDataChanged) {
      names.remove(node.substring(0, node.lastIndexOf('/')));
    }
  }
}
