package pando.index.orca;

import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.session.Retry;

/** A compute server's word in the {@link RootTable}, which leads to its tree. */
final class OrcaRoot {
  private final int number;

  /** Address of the table of roots, {@code NULL} before the index is in place. */
  private long table = GlobalAddress.NULL;

  /**
   * The root word, and the one before; they differ while it is unknown which of them the pool has.
   */
  private long word;

  private long before;

  /** Epoch of the partition table by which the compute server took its range on. */
  private long epoch;

  /** Creates the root of a compute server, before the index is in place. */
  OrcaRoot(int number) {
    this.number = number;
  }

  /** Takes over what the pool has: the address of the table, an epoch, and the word. */
  void open(long ofTable, long ofEpoch, long found) {
    table = ofTable;
    epoch = ofEpoch;
    word = found;
    before = found;
  }

  /** Forgets the index. */
  void close() {
    table = GlobalAddress.NULL;
  }

  /** Returns whether the index is in place. */
  boolean isOpen() {
    return table != GlobalAddress.NULL;
  }

  /** Returns the global address of the table of roots. */
  long table() {
    return table;
  }

  /** Says that there is no tree any more; the pool may have the word that led to it. */
  void reopen(long ofTable) {
    table = ofTable;
    before = word;
    word = 0;
  }

  /** Sets the epoch that the next word has. */
  void setEpoch(long ofTable) {
    epoch = ofTable;
  }

  /**
   * Replaces the root page. Repeatable: it does not matter whether an earlier attempt took effect.
   *
   * @param page address of the new root page, which is written
   * @throws CorruptNodeException if the root word is neither the one before nor the new one
   */
  void replace(Worker worker, long page) {
    replaceWord(worker, RootTable.word(epoch, page));
  }

  private void replaceWord(Worker worker, long desired) {
    long at = RootTable.wordAddress(table, number);
    long found = worker.cas(at, word, desired);
    if (found == before && found != word) {
      found = worker.cas(at, before, desired);
    }
    if (found != word && found != before && found != desired) {
      throw new CorruptNodeException(
          at,
          "is not the root word that is expected: found=0x%x, expected=0x%x, before=0x%x, desired=0x%x"
              .formatted(found, word, before, desired));
    }
    word = desired;
    before = desired;
  }

  /**
   * Replaces the root page where there is no way back: if the pool cannot be written, the next
   * change of the root, or closing, writes it.
   */
  void replaceSurely(Worker worker, long page) {
    try {
      Retry.untilDone(worker, () -> replace(worker, page));
    } catch (Throwable e) {
      word = RootTable.word(epoch, page);
      throw e;
    }
  }

  /** Returns whether the pool has the word. */
  boolean isSettled() {
    return before == word;
  }

  /** Writes the word that the pool may not have. */
  void settle(Worker worker) {
    Retry.untilDone(
        worker,
        () -> {
          if (word == 0) {
            replaceWord(worker, 0);
          } else {
            replace(worker, RootTable.page(word));
          }
        });
  }
}
