package pando.client;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.index.Meters;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.ByteVisitor;
import pando.index.bytes.KeyBounds;

/**
 * Three compute servers that each serve a range of byte strings, as three processes would; the
 * boundaries move. They share one index, and each refuses keys outside of its range.
 */
public final class StringTrio implements AutoCloseable {
  private static final int SERVERS = 3;
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final ByteIndex index;

  /** Operations hold it for reading, a change of the ranges for writing. */
  private final ReadWriteLock moving = new ReentrantReadWriteLock();

  private final AtomicLong turn = new AtomicLong();
  private volatile Partitioning truth;
  private final List<Server> servers = new ArrayList<>();
  private final List<ClientService> services = new ArrayList<>();

  /** Starts services of an index, which stays the caller's. */
  public StringTrio(ByteIndex index) {
    this.index = index;
    this.truth = Partitioning.equalWidth(SERVERS);
    for (int owner = 0; owner < SERVERS; owner++) {
      Server server = new Server(owner);
      servers.add(server);
      services.add(
          ClientService.start(
              server, FREE_PORT, Authentication.none(), () -> routes(server.known), 1));
    }
  }

  private Routes routes(Partitioning known) {
    return Routes.of(known, owner -> Optional.of(text(services.get(owner))));
  }

  private static String text(ClientService service) {
    return service.address().getHostString() + ":" + service.address().getPort();
  }

  /** Returns the addresses of the services, as a client takes them. */
  public String addresses() {
    return String.join(",", services.stream().map(StringTrio::text).toList());
  }

  /** Moves a boundary to a key that is drawn. */
  public void move(SplittableRandom random) {
    move(ByteStrings.partitionKey(MemorySegment.ofArray(ByteKeys.draw(random, 12))));
  }

  /** Moves a boundary to a partition key; a server that is not beside it may not learn of it. */
  public void move(long low) {
    // Any of them, and any of them learns of it: not the same each time.
    int range = 1 + (int) (turn.getAndIncrement() % (SERVERS - 1));
    boolean isTold = turn.get() % 3 == 0;
    moving.writeLock().lock();
    try {
      boolean isBetween =
          low > truth.lowOfRange(range - 1)
              && (range + 1 == SERVERS || low < truth.lowOfRange(range + 1));
      if (isBetween) {
        truth = truth.withLowOfRange(range, low);
        for (Server server : servers) {
          boolean isBeside = server.owner == range || server.owner == range - 1;
          server.known = isBeside || isTold ? truth : server.known;
        }
      }
    } finally {
      moving.writeLock().unlock();
    }
  }

  /** Returns the number of changes of the ranges. */
  public long epoch() {
    return truth.epoch();
  }

  @Override
  public void close() {
    Closing.all(services.stream().<Runnable>map(service -> service::close).toList());
  }

  /** What one process has. */
  private final class Server implements ByteStrings {
    private final int owner;
    private volatile Partitioning known;

    Server(int owner) {
      this.owner = owner;
      this.known = truth;
    }

    @Override
    public ByteSession session() {
      return new OwnedSession(index.session(), owner);
    }

    @Override
    public Partitioning partitioning() {
      return known;
    }

    @Override
    public int keyBytesMax() {
      return index.keyBytesMax();
    }

    @Override
    public int valueBytesMax() {
      return index.valueBytesMax();
    }

    @Override
    public String name() {
      return index.name();
    }

    @Override
    public Fabric fabric() {
      return index.fabric();
    }

    @Override
    public VerbCounters verbs() {
      return index.verbs();
    }

    @Override
    public void meters(Meters to) {}

    @Override
    public void flush() {
      index.flush();
    }

    @Override
    public Unwritten unwritten() {
      return index.unwritten();
    }

    @Override
    public boolean isClosed() {
      return index.isClosed();
    }

    @Override
    public void close() {}
  }

  /** A session that knows no keys but those of its range. */
  private final class OwnedSession implements ByteSession {
    private final ByteSession inner;
    private final int owner;

    OwnedSession(ByteSession inner, int owner) {
      this.inner = inner;
      this.owner = owner;
    }

    private void check(long partitionKey) {
      int its = truth.ownerOfKey(partitionKey);
      if (its != owner) {
        throw new NotServedHereException(partitionKey, its);
      }
    }

    private boolean operate(MemorySegment key, BooleanSupplier operation) {
      moving.readLock().lock();
      try {
        check(ByteStrings.partitionKey(key));
        return operation.getAsBoolean();
      } finally {
        moving.readLock().unlock();
      }
    }

    /** Looks for a neighbour: there is none here if the search leaves the range. */
    private boolean find(long from, boolean down, BooleanSupplier search) {
      moving.readLock().lock();
      try {
        check(from);
        boolean isThere = search.getAsBoolean();
        long end = down ? Long.MIN_VALUE : Long.MAX_VALUE;
        check(isThere ? ByteStrings.partitionKey(inner.key()) : end);
        return isThere;
      } finally {
        moving.readLock().unlock();
      }
    }

    @Override
    public MemorySegment key() {
      return inner.key();
    }

    @Override
    public MemorySegment value() {
      return inner.value();
    }

    @Override
    public boolean get(MemorySegment wanted) {
      return operate(wanted, () -> inner.get(wanted));
    }

    @Override
    public boolean put(MemorySegment wanted, MemorySegment stored) {
      return operate(wanted, () -> inner.put(wanted, stored));
    }

    @Override
    public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
      return operate(wanted, () -> inner.putIfAbsent(wanted, stored));
    }

    @Override
    public boolean update(MemorySegment wanted, MemorySegment stored) {
      return operate(wanted, () -> inner.update(wanted, stored));
    }

    @Override
    public boolean remove(MemorySegment wanted) {
      return operate(wanted, () -> inner.remove(wanted));
    }

    @Override
    public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
      return operate(wanted, () -> inner.replace(wanted, expected, stored));
    }

    @Override
    public boolean remove(MemorySegment wanted, MemorySegment expected) {
      return operate(wanted, () -> inner.remove(wanted, expected));
    }

    @Override
    public void store(MemorySegment wanted, MemorySegment stored) {
      boolean _ =
          operate(
              wanted,
              () -> {
                inner.store(wanted, stored);
                return true;
              });
    }

    @Override
    public void discard(MemorySegment wanted) {
      boolean _ =
          operate(
              wanted,
              () -> {
                inner.discard(wanted);
                return true;
              });
    }

    @Override
    public boolean floor(MemorySegment wanted) {
      return find(ByteStrings.partitionKey(wanted), true, () -> inner.floor(wanted));
    }

    @Override
    public boolean ceiling(MemorySegment wanted) {
      return find(ByteStrings.partitionKey(wanted), false, () -> inner.ceiling(wanted));
    }

    @Override
    public boolean lower(MemorySegment wanted) {
      return find(ByteStrings.partitionKey(wanted), true, () -> inner.lower(wanted));
    }

    @Override
    public boolean higher(MemorySegment wanted) {
      return find(ByteStrings.partitionKey(wanted), false, () -> inner.higher(wanted));
    }

    @Override
    public boolean first() {
      return find(Long.MIN_VALUE, false, inner::first);
    }

    @Override
    public boolean last() {
      return find(Long.MAX_VALUE, true, inner::last);
    }

    @Override
    public long scan(
        MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
      moving.readLock().lock();
      try {
        check(ByteStrings.partitionKey(from));
        if (limit > 0 && (to == null || ByteIndex.compare(from, to) < 0)) {
          check(to == null ? Long.MAX_VALUE : KeyBounds.partitionKeyBelow(to));
        }
        return inner.scan(from, to, limit, visitor);
      } finally {
        moving.readLock().unlock();
      }
    }

    @Override
    public long scanDown(
        @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
      moving.readLock().lock();
      try {
        check(ByteStrings.partitionKey(to));
        if (limit > 0 && (from == null || ByteIndex.compare(to, from) < 0)) {
          check(from == null ? Long.MAX_VALUE : KeyBounds.partitionKeyBelow(from));
        }
        return inner.scanDown(from, to, limit, visitor);
      } finally {
        moving.readLock().unlock();
      }
    }

    @Override
    public void alone(Runnable action) {
      inner.alone(action);
    }

    @Override
    public void close() {
      inner.close();
    }
  }
}
