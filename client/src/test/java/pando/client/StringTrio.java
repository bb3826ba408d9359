package pando.client;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
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
import pando.index.bytes.ByteArguments;
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
  private static final int FENCE_MAX = 40;

  /** With which many boundaries begin. */
  private static final byte[] ALIKE = {'a', 0, 0, 'b', '/', 0, 'a', 0, 0, 0};

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
    this.truth =
        Partitioning.equalWidth(SERVERS)
            .withFences(List.of(ByteKeys.of(), ByteKeys.of((byte) 0x55), ByteKeys.of((byte) 0xaa)));
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

  /**
   * Moves a boundary to a byte string that is drawn, of any length; of those that are long, many
   * begin with another boundary, or with the same bytes, zeros among them.
   */
  public void move(SplittableRandom random) {
    byte[] drawn = ByteKeys.draw(random, 12);
    byte[] start =
        switch (random.nextInt(4)) {
          case 0 -> ByteKeys.bytes(truth.fenceOfRange(1 + random.nextInt(SERVERS - 1)));
          case 1 -> ALIKE;
          default -> new byte[0];
        };
    byte[] fence = Arrays.copyOf(start, Math.min(start.length, FENCE_MAX) + drawn.length);
    System.arraycopy(drawn, 0, fence, fence.length - drawn.length, drawn.length);
    move(MemorySegment.ofArray(fence));
  }

  /**
   * Moves a boundary to a number that is the key of a map, or to a byte string just above; often of
   * a map with a name, whose keys all begin with the same ten bytes.
   */
  public void move(long number) {
    boolean isNamed = turn.get() % 5 < 2;
    byte[] start = isNamed ? ByteKeys.bytes(KeyBounds.reserved()) : new byte[0];
    int at = isNamed ? start.length + 1 : 0;
    byte[] fence = Arrays.copyOf(start, at + Long.BYTES + (int) (number & 3));
    if (isNamed) {
      fence[at - 1] = (byte) (1 + Math.floorMod(number, 3));
    }
    MemorySegment.ofArray(fence).set(ByteStrings.WORD, at, number ^ Long.MIN_VALUE);
    move(MemorySegment.ofArray(fence));
  }

  /** Moves a boundary to a fence; a server that is not beside it may not learn of it. */
  public void move(MemorySegment fence) {
    // Any of them, and any of them learns of it: not the same each time.
    int range = 1 + (int) (turn.getAndIncrement() % (SERVERS - 1));
    boolean isTold = turn.get() % 3 == 0;
    moving.writeLock().lock();
    try {
      boolean isBetween =
          ByteIndex.compare(truth.fenceOfRange(range - 1), fence) < 0
              && (range + 1 == SERVERS
                  || ByteIndex.compare(fence, truth.fenceOfRange(range + 1)) < 0);
      if (isBetween) {
        Partitioning.Bound bound = new Partitioning.Bound(truth.lowOfRange(range), fence);
        truth = truth.withBoundOfRange(range, bound);
        for (Server server : servers) {
          boolean isBeside = server.owner == range || server.owner == range - 1;
          server.known = isBeside || isTold ? truth : server.known;
        }
      }
    } finally {
      moving.writeLock().unlock();
    }
  }

  /** Moves both boundaries, of which all learn. */
  void moveTo(byte[] first, byte[] second) {
    moving.writeLock().lock();
    try {
      truth =
          truth
              .withLows(truth.lows())
              .withFences(List.of(ByteKeys.of(), ByteKeys.of(first), ByteKeys.of(second)));
      servers.forEach(server -> server.known = truth);
    } finally {
      moving.writeLock().unlock();
    }
  }

  /** Returns how often each has written what it has. */
  List<Integer> flushes() {
    return servers.stream().map(server -> server.flushes.get()).toList();
  }

  @Override
  public void close() {
    Closing.all(services.stream().<Runnable>map(service -> service::close).toList());
  }

  /** What one process has. */
  private final class Server implements ByteStrings {
    private final int owner;
    private final AtomicInteger flushes = new AtomicInteger();
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
      flushes.incrementAndGet();
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

    private void check(MemorySegment key) {
      checkRange(KeyBounds.rangeOfKey(truth, key), key);
    }

    /** Checks that the keys just below one are of the range; those at the end, of {@code null}. */
    private void checkBelow(@Nullable MemorySegment end) {
      checkRange(KeyBounds.rangeBelow(truth, end), end == null ? MemorySegment.NULL : end);
    }

    private void checkRange(int range, MemorySegment key) {
      int its = truth.ownerOfRange(range);
      if (its != owner) {
        throw new NotServedHereException(ByteArguments.text(key), its);
      }
    }

    private boolean operate(MemorySegment key, BooleanSupplier operation) {
      moving.readLock().lock();
      try {
        check(key);
        return operation.getAsBoolean();
      } finally {
        moving.readLock().unlock();
      }
    }

    /** Looks for a neighbour: there is none here if the search leaves the range. */
    private boolean find(Runnable check, boolean down, BooleanSupplier search) {
      moving.readLock().lock();
      try {
        check.run();
        boolean isThere = search.getAsBoolean();
        if (isThere || down) {
          check(isThere ? inner.key() : MemorySegment.NULL);
        } else {
          checkBelow(null);
        }
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
      return find(() -> check(wanted), true, () -> inner.floor(wanted));
    }

    @Override
    public boolean ceiling(MemorySegment wanted) {
      return find(() -> check(wanted), false, () -> inner.ceiling(wanted));
    }

    @Override
    public boolean lower(MemorySegment wanted) {
      return find(() -> checkBelow(wanted), true, () -> inner.lower(wanted));
    }

    @Override
    public boolean higher(MemorySegment wanted) {
      return find(() -> check(wanted), false, () -> inner.higher(wanted));
    }

    @Override
    public boolean first() {
      return find(() -> check(MemorySegment.NULL), false, inner::first);
    }

    @Override
    public boolean last() {
      return find(() -> checkBelow(null), true, inner::last);
    }

    @Override
    public long scan(
        MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
      moving.readLock().lock();
      try {
        check(from);
        if (limit > 0 && (to == null || ByteIndex.compare(from, to) < 0)) {
          checkBelow(to);
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
        check(to);
        if (limit > 0 && (from == null || ByteIndex.compare(to, from) < 0)) {
          checkBelow(from);
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
    public void atomically(@Nullable Collection<MemorySegment> keys, Consumer<ByteSession> action) {
      inner.atomically(keys, action);
    }

    @Override
    public void close() {
      inner.close();
    }
  }
}
