package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;
import pando.fabric.pool.Losses;
import pando.index.Meters;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.Unwritten;
import pando.index.blob.BlobCount;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * An ordered map from byte strings to byte strings over a {@link DexIndex} whose keys have more
 * than 8 bytes ({@code key-bytes}), so that several processes serve it, each its ranges of keys. A
 * string of up to {@code key-bytes} - 2 bytes is written as a key of that length. A value of up to
 * 7 bytes is in the entry, a longer one beside the index. Do not store other keys by sessions of
 * the index: byte strings would find keys that they cannot read ({@link IllegalStateException}).
 *
 * <p>Operations of sessions are linearizable for the keys that this process serves. For a key that
 * another one serves they throw {@link NotServedHereException}; so do neighbours and scans where
 * they come to such keys.
 *
 * <p>The index is not durable. Where a compute server is lost, so are changes that were in its
 * cache alone; and a key whose value it had replaced or removed may then be absent, as the value
 * before had been freed. {@code pando.values.lost} counts such keys as they are found.
 *
 * <p>Thread-safe; each thread works through a {@link ByteSession} of its own.
 */
public final class DexStrings implements ByteStrings {
  private final DexIndex index;
  private final StringKeys keys;
  private final BlobSpace space;
  private final Gate gate = new Gate();
  private final LongAdder lost = new LongAdder();
  private final List<StringSession> sessions = new ArrayList<>();

  /** Of the thread that closes this. */
  private final Blobs own;

  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile boolean ended;

  private DexStrings(DexIndex index) {
    this.index = index;
    this.keys = new StringKeys(index.keyBytes());
    this.space = BlobSpace.shared(index.fabric());
    this.own = new Blobs(space);
  }

  /**
   * Makes byte strings of an index. One object is enough for a process; it has to be closed before
   * the index, which it leaves open.
   *
   * @param index whose entries, if it has any, were stored by byte strings
   * @throws IllegalArgumentException if its keys have 8 bytes
   */
  public static DexStrings over(DexIndex index) {
    if (index.keyBytes() == Long.BYTES) {
      throw new IllegalArgumentException(
          "byte strings need an index with longer keys, two bytes more than the longest of them:"
              + " make it with the setting key-bytes, such as key-bytes=64: keyBytes="
              + index.keyBytes());
    }
    return new DexStrings(index);
  }

  @Override
  public ByteSession session() {
    synchronized (sessions) {
      if (gate.isClosed()) {
        throw new IllegalStateException("the index is closed");
      }
      StringSession session = opened();
      sessions.add(session);
      return session;
    }
  }

  private StringSession opened() {
    WideSession words = index.wideSession(null);
    try {
      return new StringSession(this, keys, words, index.sessionLease(), new Blobs(space));
    } catch (Throwable e) {
      Closing.after(e, words::close);
      throw e;
    }
  }

  /** Ends a session, unless all have ended. */
  void end(StringSession session) {
    boolean open;
    synchronized (sessions) {
      open = sessions.remove(session);
    }
    if (open) {
      session.release();
    }
  }

  Gate gate() {
    return gate;
  }

  /** Returns what counts values that were lost. */
  LongAdder lost() {
    return lost;
  }

  @Override
  public Partitioning partitioning() {
    return index.partitioning();
  }

  /** Returns {@code key-bytes} - 2. */
  @Override
  public int keyBytesMax() {
    return keys.lengthMax();
  }

  /** Returns 16 MiB, less in a pool of small chunks. */
  @Override
  public int valueBytesMax() {
    return space.lengthMax();
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
    VerbCounters all = index.verbs();
    all.add(space.verbs());
    return all;
  }

  @Override
  public void meters(Meters to) {
    index.meters(to);
    to.gauge(
        "pando.value.bytes",
        "Bytes of the pool of values that this process stored, less those that it freed.",
        space::bytesInUse);
    to.count(
        "pando.values.lost",
        "Values that were lost with a compute server, as operations have found.",
        lost::sum);
  }

  /** Returns how many values operations have found to be lost with a compute server. */
  public long valuesLost() {
    return lost.sum();
  }

  /**
   * Returns where every byte of the pool is, by {@link DexIndex#space()} and the values of entries
   * that this process serves. READs these values. What other processes serve, or keep for later, is
   * with others, as is what a lost compute server had stored; to the byte while no operation is
   * under way.
   *
   * @throws IllegalStateException if it is closed
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  public PoolSpace space() {
    StackRoom.STRINGS.check();
    if (isClosed()) {
      throw new IllegalStateException("the index is closed");
    }
    try (WideSession words = index.wideSession();
        Blobs blobs = new Blobs(space)) {
      BlobCount count = new BlobCount(space, blobs, "values");
      Partitioning ranges = partitioning();
      for (int range = 0; range < ranges.servers(); range++) {
        if (index.serves(ranges.lowOfRange(range))) {
          count(words, ranges.lowOfRange(range), ranges.highOfRange(range), count);
        }
      }
      return index.space().withUsed(count.parts()).withUnused(space.kept());
    }
  }

  private void count(WideSession words, long low, long high, BlobCount count) {
    MemorySegment from = keys.make();
    keys.writeLeast(low, from);
    MemorySegment to = keys.make();
    keys.writeGreatest(high, to);
    words.scan(
        from,
        to,
        Long.MAX_VALUE,
        (key, word) -> {
          count.add(keys.hash(key), word);
          return true;
        });
  }

  /** Returns whether it, or the index, is closed. */
  @Override
  public boolean isClosed() {
    return gate.isClosed() || index.isClosed();
  }

  @Override
  public void flush() {
    index.flush();
  }

  @Override
  public Unwritten unwritten() {
    return index.unwritten();
  }

  /**
   * {@inheritDoc}
   *
   * <p>The index stays open. A call while another thread closes it does nothing, either; after a
   * failure other than a loss it can be called again, to give back what is left.
   */
  @Override
  public void close() {
    StackRoom.STRINGS.check();
    if (ended || !closing.compareAndSet(false, true)) {
      return;
    }
    try {
      Losses losses = new Losses();
      Failures failures = new Failures();
      for (StringSession session : shut()) {
        failures.collect(() -> losses.defer(session::release));
      }
      failures.collect(() -> losses.defer(own::close));
      failures.collect(() -> losses.defer(space::close));
      failures.rethrow();
      ended = true;
      losses.rethrow();
    } finally {
      closing.set(false);
    }
  }

  /** Lets no operation begin any more; returns the sessions to end. */
  private List<StringSession> shut() {
    if (gate.isClosed() || !gate.shut(own.worker())) {
      return List.of();
    }
    try {
      synchronized (sessions) {
        gate.close();
        List<StringSession> open = List.copyOf(sessions);
        sessions.clear();
        return open;
      }
    } finally {
      gate.open();
    }
  }
}
