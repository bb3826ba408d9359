package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.NotServedHereException;
import pando.index.Session;
import pando.sim.Cluster;
import pando.sim.fault.Fault;
import pando.sim.history.Scan;

/**
 * A client's session over the compute servers of a simulated cluster, which goes by a copy of the
 * routes as a client over the network does: what is certainly not done, as the compute server does
 * not serve the key or is fenced, is sent again by newer routes, with the pauses of such a client.
 */
final class SimRoutedSession implements Session {
  /** A bug that a test plants: a client keeps its routes. */
  private static final boolean ROUTES_KEPT =
      System.getProperty("pando.plant", "").equals("cluster-routes-kept");

  private static final long PATIENCE_NANOS = 4_000_000_000L;
  private static final long PAUSE_NANOS_MIN = 1_000_000;
  private static final int DOUBLINGS_MAX = 6;
  private static final long WAY_NANOS_MAX = 20_000;

  private final Cluster cluster;
  private final ClusterRouting routing;
  private final RandomGenerator random;
  private ClusterRoutes routes;
  private long foundKey;
  private long foundValue;

  SimRoutedSession(Cluster cluster, ClusterRouting routing, RandomGenerator random) {
    this.cluster = cluster;
    this.routing = routing;
    this.random = random;
    this.routes = routing.latest();
  }

  /** Carries out an operation where the key is served. */
  private <T> T at(long key, Function<Server, T> operation) {
    if (cluster.faultNanos(Fault.STALE_ROUTE) > 0) {
      routes = routing.old(random);
    }
    long start = cluster.nanos();
    for (int attempt = 0; ; attempt++) {
      PandoException lacking;
      ClusterServer target = routes.target(key);
      try {
        way();
        T answer = send(target, key, operation);
        way();
        return answer;
      } catch (NotServedHereException | FencedException e) {
        lacking = e;
      }
      if (cluster.nanos() - start > PATIENCE_NANOS) {
        throw new StalledException(
            "no compute server carries it out: key=%s, attempts=%s, asked=%s, last=%s, known=%s"
                .formatted(key, attempt, target, lacking.getMessage(), routes.routes()));
      }
      if (attempt > 0) {
        cluster.sleepNanos(PAUSE_NANOS_MIN << Math.min(attempt, DOUBLINGS_MAX));
      }
      if (!ROUTES_KEPT) {
        routes = routing.refreshed(routes, random);
      }
    }
  }

  private static <T> T send(
      @Nullable ClusterServer target, long key, Function<Server, T> operation) {
    if (target == null) {
      throw new NotServedHereException(key, -1);
    }
    return target.serve(key, session -> operation.apply(new Server(target, session)));
  }

  /** A compute server, and a session there. */
  private record Server(ClusterServer server, Session session) {}

  private void way() {
    cluster.sleepNanos(1_000 + random.nextLong(WAY_NANOS_MAX));
  }

  /** Does an operation on a key whose answer is about an entry. */
  private boolean found(long key, Predicate<Session> operation) {
    boolean isThere =
        at(
            key,
            at -> {
              boolean answer = operation.test(at.session());
              foundValue = answer ? at.session().value() : 0;
              return answer;
            });
    foundKey = key;
    return isThere;
  }

  /** Does an operation on a key that returns its value also where it was not done. */
  private boolean compared(long key, Predicate<Session> operation) {
    return at(
        key,
        at -> {
          boolean answer = operation.test(at.session());
          foundValue = at.session().value();
          return answer;
        });
  }

  @Override
  public long key() {
    return foundKey;
  }

  @Override
  public long value() {
    return foundValue;
  }

  @Override
  public boolean get(long key) {
    return found(key, session -> session.get(key));
  }

  @Override
  public boolean put(long key, long value) {
    return found(key, session -> session.put(key, value));
  }

  @Override
  public boolean putIfAbsent(long key, long value) {
    return !found(key, session -> !session.putIfAbsent(key, value));
  }

  @Override
  public boolean update(long key, long value) {
    return found(key, session -> session.update(key, value));
  }

  @Override
  public boolean remove(long key) {
    return found(key, session -> session.remove(key));
  }

  @Override
  public boolean replace(long key, long expected, long value) {
    return compared(key, session -> session.replace(key, expected, value));
  }

  @Override
  public boolean remove(long key, long expected) {
    return compared(key, session -> session.remove(key, expected));
  }

  @Override
  public void store(long key, long value) {
    at(
        key,
        at -> {
          at.session().store(key, value);
          return true;
        });
  }

  @Override
  public void discard(long key) {
    at(
        key,
        at -> {
          at.session().discard(key);
          return true;
        });
  }

  @Override
  public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    int there = 0;
    for (int i = from; i < from + count; i++) {
      found[i] = get(keys[i]);
      values[i] = foundValue;
      there += found[i] ? 1 : 0;
    }
    return there;
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    for (int i = from; i < from + count; i++) {
      store(keys[i], values[i]);
    }
  }

  @Override
  public boolean floor(long key) {
    return scanDown(key, Long.MIN_VALUE, 1, this::take) == 1;
  }

  @Override
  public boolean ceiling(long key) {
    return scan(key, Long.MAX_VALUE, 1, this::take) == 1;
  }

  @Override
  public boolean lower(long key) {
    return key > Long.MIN_VALUE && floor(key - 1);
  }

  @Override
  public boolean higher(long key) {
    return key < Long.MAX_VALUE && ceiling(key + 1);
  }

  @Override
  public boolean first() {
    return ceiling(Long.MIN_VALUE);
  }

  @Override
  public boolean last() {
    return floor(Long.MAX_VALUE);
  }

  private boolean take(long key, long value) {
    foundKey = key;
    foundValue = value;
    return true;
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    return pages(from, to, limit, false, visitor);
  }

  @Override
  public long scanDown(long from, long to, long limit, EntryVisitor visitor) {
    return pages(from, to, limit, true, visitor);
  }

  /** Scans range by range, each as far as the compute server asked says that it goes. */
  private long pages(long from, long to, long limit, boolean down, EntryVisitor visitor) {
    long visited = 0;
    long next = from;
    while (true) {
      long left = limit - visited;
      long start = next;
      Page page = at(next, at -> page(at, start, to, left, down));
      for (Scan.Entry entry : page.entries()) {
        visited++;
        if (!visitor.visit(entry.key(), entry.value())) {
          return visited;
        }
      }
      if (visited == limit || page.end() == to) {
        return visited;
      }
      next = down ? page.end() - 1 : page.end() + 1;
    }
  }

  /** Entries of a range, and the key up to which they are all. */
  private record Page(List<Scan.Entry> entries, long end) {}

  private static Page page(Server at, long from, long to, long limit, boolean down) {
    var partitioning = at.server().partitioning();
    int range = partitioning.rangeOfKey(from);
    List<Scan.Entry> entries = new ArrayList<>();
    EntryVisitor visitor = (key, value) -> entries.add(new Scan.Entry(key, value));
    if (down) {
      long end = Math.max(to, partitioning.lowOfRange(range));
      at.session().scanDown(from, end, limit, visitor);
      return new Page(entries, end);
    }
    long end = Math.min(to, partitioning.highOfRange(range));
    at.session().scan(from, end, limit, visitor);
    return new Page(entries, end);
  }

  @Override
  public long sizeEstimate() {
    return at(Long.MIN_VALUE, at -> at.session().servedSizeEstimate());
  }

  @Override
  public void alone(Runnable action) {
    throw new UnsupportedOperationException("clients of a cluster are never alone");
  }

  @Override
  public void close() {}
}
