package pando.index.bytes;

import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import pando.fabric.PandoException;
import pando.index.Session;
import pando.index.blob.Blobs;

/**
 * Labels that may not have the word that they should: steps that failed, and are taken again by
 * later changes, and at the end. Thread-safe.
 */
final class Unsettled {
  /** Word of a blob that is not known to be there, and so is not freed. */
  private static final long NO_BLOB = 0;

  /**
   * A label of a block that is gone, or was never made known.
   *
   * @param word of its blob, which is freed behind the label: as long as the label names it, its
   *     place must not have another one
   */
  private record Stray(long label, long word) {}

  /**
   * A block whose label may have the word of another one.
   *
   * @param word of that other one, which was never made known
   * @param hash of the key of a value that only that other one has
   * @param value word of that value's blob, 0 if there is none
   */
  private record Doubtful(BlockEntry entry, long word, long hash, long value) {}

  private final Superseded superseded;
  private final Queue<Stray> strays = new ConcurrentLinkedQueue<>();
  private final Queue<Doubtful> doubtful = new ConcurrentLinkedQueue<>();

  /** The round in which a block was doubtful last, or after which. */
  private volatile long doubted = -1;

  /**
   * Begins with nothing.
   *
   * @param superseded receives what the pool's labels may still lead to
   */
  Unsettled(Superseded superseded) {
    this.superseded = superseded;
  }

  /** Returns whether all is settled. */
  boolean isEmpty() {
    return strays.isEmpty() && doubtful.isEmpty();
  }

  /** Adds labels that are to be discarded, and with them no blob. */
  void addStrays(Collection<Long> labels) {
    labels.forEach(label -> addStray(label, NO_BLOB));
  }

  /** Returns the labels that are to be discarded. */
  LongStream strays() {
    return strays.stream().mapToLong(Stray::label);
  }

  /** Adds the label of a block that is gone, or was never made known, and its blob to free. */
  void addStray(long label, long word) {
    strays.add(new Stray(label, word));
  }

  /** Adds a block whose label may have the word of another one, which was never made known. */
  void add(BlockEntry entry, long word) {
    add(entry, word, 0, NO_BLOB);
  }

  /** Adds such a block, and the value that only the other one has, by the hash of its key. */
  void add(BlockEntry entry, long word, long hash, long value) {
    doubtful.add(new Doubtful(entry, word, hash, value));
    doubted = superseded.rounds();
  }

  /**
   * Returns whether a label in the pool may lead to a block that was never made known, and with it
   * to values that wait since.
   */
  boolean mayHaveWaiting() {
    return !doubtful.isEmpty() || !superseded.hasEndedSince(doubted);
  }

  /** Returns whether the label of a block may have the word of another one. */
  boolean isDoubtful(BlockEntry entry) {
    return doubtful.stream().anyMatch(each -> each.entry == entry);
  }

  /** Takes the steps that can be taken now. */
  void settle(Session labels, Blobs blobs) {
    if (strays.isEmpty() && doubtful.isEmpty()) {
      return;
    }
    try {
      settleAll(labels, blobs);
    } catch (PandoException _) {
      // What is left is settled later.
    }
  }

  /**
   * Takes all steps, but none while a block among them is latched. Strays go last: while a label
   * may have the word of the left part of a block, that of the right part must stay.
   */
  void settleAll(Session labels, Blobs blobs) {
    int latched = 0;
    for (Doubtful next = doubtful.peek(); next != null; next = doubtful.peek()) {
      if (next.entry.tryLatch()) {
        try {
          settle(next, labels);
        } finally {
          next.entry.unlatch();
        }
      } else if (++latched > doubtful.size()) {
        return;
      } else if (doubtful.remove(next)) {
        doubtful.add(next);
      }
    }
    for (Stray next = strays.peek(); next != null; next = strays.peek()) {
      if (!doubtful.isEmpty()) {
        return;
      }
      labels.discard(next.label);
      if (strays.remove(next)) {
        blobs.free(BlockSession.BLOCKS, next.word);
      }
    }
  }

  private void settle(Doubtful next, Session labels) {
    BlockEntry entry = next.entry;
    BlockState state = entry.state();
    if (!state.isGone() && !superseded.isWaiting(entry)) {
      labels.store(entry.label(), state.word());
    }
    // An error may have struck when the other one had been made known anyway.
    doubted = superseded.rounds();
    if (doubtful.remove(next) && state.word() != next.word) {
      superseded.free(entry, BlockSession.BLOCKS, next.word);
      superseded.free(entry, next.hash, next.value);
    }
  }
}
