package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;
import pando.index.BoundKey;
import pando.index.Lease;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.index.bugs.PlantedBug;
import pando.index.host.Overlay;
import pando.index.host.Parting;
import pando.index.pool.Catalogue;

/** The ranges of keys that processes serve, as one of them knows them. Thread-safe. */
final class ByteRanges implements Overlay {
  /*
   * A compute server has a range of labels, which the index of labels moves as it moves any keys,
   * and a range of byte strings. The partition table has the bounds of labels, and the word of the
   * fences is beside it, so that both change at one moment. All labels of a range lead to blocks of
   * its byte strings, in no order.
   *
   * The directory says what this process serves. It follows the table: what the process gives away
   * leaves it while operations are kept out (BlockGiving); what comes is read, label by label, by
   * the first session that is asked for a key of it. Until then nobody serves it.
   *
   * Locks are taken in this order: the turn of the index of labels, this object's own, the gate of
   * the sessions here, the gate of the index of labels. So a session that waits for one of them is
   * outside of its gate, and rounds of Superseded do not take the turn.
   */

  private final Fences fences;
  private final int number;

  /** Held by the thread that changes what the directory serves. */
  private final AtomicBoolean changing = new AtomicBoolean();

  /** Whether this process has given keys away: records of them may still be cached. */
  private volatile boolean hasGiven;

  private volatile @Nullable Lease lease;
  private @Nullable ByteIndex index;

  /**
   * Creates the ranges of an index, which {@link #setIndex} sets.
   *
   * @param number of the compute server of this process
   */
  ByteRanges(BlobSpace space, int number) {
    this.fences = new Fences(space);
    this.number = number;
  }

  /** Sets the index, which is made later than this. */
  void setIndex(ByteIndex its) {
    index = its;
  }

  private ByteIndex index() {
    return Objects.requireNonNull(index);
  }

  /** Returns the lease of sessions that are opened now, {@code null} if they need none. */
  @Nullable Lease lease() {
    return lease;
  }

  void setLease(Lease held) {
    lease = held;
  }

  int number() {
    return number;
  }

  // The table.

  @Override
  public Partitioning undivided(int server) {
    return Partitioning.undivided(server).withFences(List.of(MemorySegment.ofArray(new byte[0])));
  }

  @Override
  public Partitioning read(Catalogue catalogue) {
    return fences.read(catalogue);
  }

  @Override
  public void write(Catalogue catalogue, Partitioning table) {
    fences.write(catalogue, table);
  }

  /** Returns the keys that this process has by the table, as it knows that. */
  ServedKeys given() {
    return ServedKeys.of(index().labels.partitioning(), number);
  }

  // Keys that come.

  /**
   * Waits until this process serves a key. The caller is outside of the gate.
   *
   * @param key {@code null} for the end of all keys
   * @param isBelow whether the keys just below it are meant
   * @param attempt number of this wait, from 0
   * @throws NotServedHereException if another process serves them
   */
  void await(@Nullable MemorySegment key, boolean isBelow, int attempt) {
    Partitioning seen = index().labels.partitioning();
    int range =
        key == null || isBelow ? KeyBounds.rangeBelow(seen, key) : KeyBounds.rangeOfKey(seen, key);
    int owner = seen.ownerOfRange(range);
    if (index().gate.isAlone()) {
      // Ranges of this process do not change.
      throw new NotServedHereException(text(key), owner);
    }
    if (owner == number) {
      follow();
    } else {
      index().labels.changes().awaitOwner(seen, text(key), owner, false, attempt);
    }
  }

  private static String text(@Nullable MemorySegment key) {
    return key == null ? "the last one" : ByteArguments.text(key);
  }

  /** Has the directory serve all keys that this process has by the table: READs their blocks. */
  void follow() {
    while (!isFollowed(given())) {
      try (Session labels = index().labels.session();
          Blobs blobs = new Blobs(index().space)) {
        takeLabelsOn(labels);
        lock(blobs.worker().backoff());
        try {
          // Else others came since, and could not be taken on: that needs the turn once more.
          if (index().labels.changes().areAdopted()) {
            follow(labels, blobs);
          }
        } finally {
          unlock();
        }
      }
    }
  }

  /**
   * Takes on the labels that this process has by the table. That needs the turn, whose holder may
   * wait for the lock of this object: so it is done before this is locked.
   */
  private void takeLabelsOn(Session labels) {
    while (true) {
      Partitioning seen = index().labels.partitioning();
      ServedKeys all = ServedKeys.of(seen, number);
      if (isFollowed(all)) {
        return;
      }
      try {
        labels.get(all.lowLabel());
        return;
      } catch (NotServedHereException e) {
        if (index().labels.partitioning() == seen) {
          throw e;
        }
        // Another thread has given them away since.
      }
    }
  }

  /** As {@link #follow()}, by a thread that has locked this. */
  void follow(Session labels, Blobs blobs) {
    ServedKeys all = given();
    if (isFollowed(all)) {
      return;
    }
    ServedKeys has = index().directory.served();
    if (has.isNone()) {
      extend(all, all, labels, blobs);
      return;
    }
    if (!all.beginsWith(has)) {
      extend(
          new ServedKeys(all.low(), has.low(), all.lowLabel(), has.lowLabel() - 1),
          new ServedKeys(all.low(), has.high(), all.lowLabel(), has.highLabel()),
          labels,
          blobs);
    }
    if (!all.endsWith(has)) {
      extend(
          new ServedKeys(
              Objects.requireNonNull(has.high()), all.high(), has.highLabel() + 1, all.highLabel()),
          all,
          labels,
          blobs);
    }
  }

  private boolean isFollowed(ServedKeys all) {
    if (all.isNone()) {
      return true;
    }
    ServedKeys has = index().directory.served();
    return all.beginsWith(has) && all.endsWith(has) && !has.isNone();
  }

  /**
   * Serves further keys.
   *
   * @param more the further keys
   * @param all these, and those before
   */
  private void extend(ServedKeys more, ServedKeys all, Session labels, Blobs blobs) {
    OpenedBlocks blocks = OpenedBlocks.of(more, labels, blobs);
    if (hasGiven && !PlantedBug.STRINGS_KEPT) {
      index().records.clear(blobs.worker().backoff());
    }
    index().versions.exceed(blocks.versionMax());
    index().unsettled.addStrays(blocks.strays());
    // Sessions take labels as soon as they find the blocks.
    if (index().directory.served().isNone()) {
      index().freshLabels.restart(blocks.labels(), more.lowLabel(), more.highLabel());
    } else {
      index().freshLabels.offer(blocks.labels(), more.lowLabel(), more.highLabel());
    }
    index().directory.extend(blocks.entries(), all);
  }

  /** Keeps other threads from changing what the directory serves, until {@link #unlock}. */
  void lock(Backoff backoff) {
    long start = 0;
    for (int attempt = 0; !changing.compareAndSet(false, true); attempt++) {
      start = WaitLimit.LONG.pause(backoff, attempt, start, "a change of ranges does not end");
    }
  }

  void unlock() {
    changing.set(false);
  }

  // Keys that leave.

  /** Returns whether a label is of a range that this process has. */
  boolean isOwn(long label) {
    ServedKeys own = given();
    return own.lowLabel() <= label && label <= own.highLabel();
  }

  /** Notes that this process has given keys away. */
  void noteGiven() {
    hasGiven = true;
  }

  @Override
  public Parting part(BoundKey at, boolean upper, LongFunction<Parting> cut) {
    return BlockGiving.part(index(), at.string(), upper, cut);
  }

  @Override
  public Parting partHalf(Supplier<Parting> half, LongFunction<Parting> cut) {
    return BlockGiving.part(index(), null, true, cut);
  }

  @Override
  public Parting partWhole(Supplier<Parting> whole) {
    return BlockGiving.whole(index(), whole);
  }

  @Override
  public boolean keepsServers() {
    return true;
  }
}
