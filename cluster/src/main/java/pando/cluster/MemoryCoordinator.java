package pando.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A coordinator inside this process, for tests and the simulator. Its clock stands still but for
 * {@link #advance}, and sessions stay connected but for {@link #disconnect}. Thread-safe.
 */
public final class MemoryCoordinator {
  /** An entry, and the session that announced it. */
  private record Node(Entry entry, @Nullable MemoryMembership owner) {}

  private final NavigableMap<String, Node> nodes = new TreeMap<>();
  private final List<MemoryMembership> sessions = new ArrayList<>();
  private final Duration sessionTimeout;
  private Duration now = Duration.ZERO;

  /** Creates a coordinator without entries. */
  public MemoryCoordinator(Duration sessionTimeout) {
    this.sessionTimeout = sessionTimeout;
  }

  /** Opens a session. */
  public MemoryMembership connect() {
    MemoryMembership session = new MemoryMembership(this);
    synchronized (this) {
      sessions.add(session);
    }
    return session;
  }

  /** Keeps a session from reaching the coordinator. */
  public void disconnect(MemoryMembership session) {
    synchronized (this) {
      session.disconnectedAt = now;
    }
    session.changed();
  }

  /** Lets a session reach the coordinator again; if it has ended, it learns that now. */
  public void reconnect(MemoryMembership session) {
    synchronized (this) {
      session.disconnectedAt = null;
    }
    session.changed();
  }

  /** Lets time pass: sessions end that were disconnected for as long as their time-out. */
  public void advance(Duration time) {
    List<MemoryMembership> ending;
    synchronized (this) {
      now = now.plus(time);
      ending = sessions.stream().filter(this::isOver).toList();
    }
    ending.forEach(this::end);
  }

  private boolean isOver(MemoryMembership session) {
    Duration since = session.disconnectedAt;
    return since != null && now.minus(since).compareTo(sessionTimeout) >= 0;
  }

  /** Ends a session, with all that it announced. */
  void end(MemoryMembership session) {
    synchronized (this) {
      session.isOver = true;
      sessions.remove(session);
      nodes.values().removeIf(node -> session.equals(node.owner));
    }
    session.changed();
    notifyAllSessions();
  }

  /** Returns a copy of all entries, by path. */
  public synchronized NavigableMap<String, Entry> entries() {
    NavigableMap<String, Entry> entries = new TreeMap<>();
    nodes.forEach((path, node) -> entries.put(path, node.entry));
    return entries;
  }

  synchronized Optional<Entry> read(String path) {
    return Optional.ofNullable(nodes.get(path)).map(Node::entry);
  }

  synchronized List<String> list(String folder) {
    return list(nodes, folder);
  }

  /** Returns the names of what lies directly below a path, in order. */
  public static List<String> list(NavigableMap<String, ?> byPath, String folder) {
    String start = folder + "/";
    return byPath.tailMap(start, false).keySet().stream()
        .takeWhile(path -> path.startsWith(start))
        .map(path -> path.substring(start.length()))
        .filter(name -> name.indexOf('/') < 0)
        .toList();
  }

  boolean commit(MemoryMembership session, List<Write> writes) {
    synchronized (this) {
      if (!writes.stream().allMatch(this::isExpected)) {
        return false;
      }
      writes.forEach(write -> apply(session, write));
    }
    notifyAllSessions();
    return true;
  }

  private boolean isExpected(Write write) {
    Node node = nodes.get(write.path());
    return switch (write) {
      case Write.Create _, Write.Announce _ -> node == null;
      case Write.Set set -> node != null && node.entry.version() == set.version();
      case Write.Delete delete -> node != null && node.entry.version() == delete.version();
      case Write.Check check -> node != null && node.entry.version() == check.version();
    };
  }

  private void apply(MemoryMembership session, Write write) {
    switch (write) {
      case Write.Create(String path, byte[] bytes) ->
          nodes.put(path, new Node(new Entry(bytes.clone(), 0), null));
      case Write.Announce(String path, byte[] bytes) ->
          nodes.put(path, new Node(new Entry(bytes.clone(), 0), session));
      case Write.Set(String path, int version, byte[] bytes) ->
          nodes.computeIfPresent(
              path, (_, node) -> new Node(new Entry(bytes.clone(), version + 1), node.owner));
      case Write.Delete delete -> nodes.remove(delete.path());
      case Write.Check _ -> {}
    }
  }

  private void notifyAllSessions() {
    List<MemoryMembership> connected;
    synchronized (this) {
      connected = sessions.stream().filter(session -> session.disconnectedAt == null).toList();
    }
    connected.forEach(MemoryMembership::changed);
  }
}
