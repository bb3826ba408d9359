package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.blob.Blobs;

/**
 * The entry of one key at a time: a word in the tree, and the value that it stands for. What an
 * operation has found, {@link Blobs} has.
 */
final class StringEntry {
  /*
   * A word that is not in an entry is freed once: a new one by the operation that made it and did
   * not put it into the entry, an old one by the operation that took it out. Where it is not known
   * whether a word is in the entry, it is never freed.
   *
   * A word is read, and then its blob. If that is gone, another operation has taken the word out
   * meanwhile, and the entry is read again. If the entry has the same word still, time after time,
   * then nobody has taken it out: a compute server that had done so was lost before it wrote the
   * leaf back, and had freed the blob, so that the value before is lost with the value behind. The
   * key counts as absent. Each operation that meets such a word removes it, and goes on as if the
   * key had been absent before: so all that follow agree.
   *
   * Hence an operation that must know whether the key is there looks before it changes the entry.
   * A put and a removal need not: they take the word out, and look afterwards what it was.
   */

  /** Loads of the same word in a row that fail, before its value counts as lost. */
  private static final int LOADS_MAX = 3;

  private final WideSession words;
  private final Blobs blobs;
  private final StringKeys keys;
  private final LongAdder lost;

  /** The key that this session went to. */
  private final MemorySegment key;

  private long hash;
  private boolean isThere;

  /**
   * Creates access to entries.
   *
   * @param lost counts values that were lost
   */
  StringEntry(WideSession words, Blobs blobs, StringKeys keys, LongAdder lost) {
    this.words = words;
    this.blobs = blobs;
    this.keys = keys;
    this.lost = lost;
    this.key = keys.make();
  }

  /** Goes to the entry of a string. */
  void seek(MemorySegment string) {
    keys.write(string, key);
    hash = keys.hash(key);
  }

  /** Goes to the entry of a key. */
  void seekKey(MemorySegment wanted) {
    MemorySegment.copy(wanted, 0, key, 0, key.byteSize());
    hash = keys.hash(key);
  }

  /** Loads the value of the key; returns whether there is one. */
  boolean get() {
    long goneWord = 0;
    int goneTimes = 0;
    while (words.get(key)) {
      long word = words.value();
      if (blobs.load(hash, word)) {
        return true;
      }
      goneTimes = word == goneWord ? goneTimes + 1 : 1;
      goneWord = word;
      if (goneTimes == LOADS_MAX) {
        removeLost(word);
        goneTimes = 0;
      }
    }
    return false;
  }

  private void removeLost(long word) {
    if (words.remove(key, word)) {
      lost.increment();
    }
  }

  /** Loads the value, if it {@link #isThere}; returns whether it is the one that is expected. */
  private boolean loadAndCompare(MemorySegment expected) {
    isThere = get();
    return isThere
        && blobs.length() == expected.byteSize()
        && MemorySegment.mismatch(
                blobs.bytes(),
                blobs.offset(),
                blobs.offset() + blobs.length(),
                expected,
                0,
                expected.byteSize())
            < 0;
  }

  /** Returns whether the operation that expected a value has found one. */
  boolean isThere() {
    return isThere;
  }

  private long storeBlob(MemorySegment value) {
    return blobs.store(hash, value, 0, (int) value.byteSize());
  }

  /** Stores a value; returns whether one was there, which is loaded. */
  boolean put(MemorySegment value) {
    try {
      long word = storeBlob(value);
      return putWord(word) && loadAndFree(words.value(), word);
    } catch (PoolFullException e) {
      return replaceInFullPool(value, e);
    }
  }

  /** Stores a value. */
  void store(MemorySegment value) {
    try {
      long word = storeBlob(value);
      if (putWord(word)) {
        free(words.value(), word);
      }
    } catch (PoolFullException e) {
      boolean _ = replaceInFullPool(value, e);
    }
  }

  private boolean putWord(long word) {
    try {
      return words.put(key, word);
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
  }

  /** Stores a value if there is none; returns whether there was one, which is loaded. */
  boolean putIfAbsent(MemorySegment value) {
    long word = storeBlob(value);
    boolean present = false;
    try {
      while (!present && !words.putIfAbsent(key, word)) {
        present = get();
      }
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
    if (present) {
      blobs.free(hash, word);
    }
    return present;
  }

  /** Replaces a value; returns whether there was one, which is loaded. */
  boolean update(MemorySegment value) {
    try {
      return update(storeBlob(value));
    } catch (PoolFullException e) {
      return replaceInFullPool(value, e);
    }
  }

  private boolean update(long word) {
    boolean replaced = false;
    long before = 0;
    try {
      while (!replaced && get()) {
        before = words.value();
        replaced = words.replace(key, before, word);
      }
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
    if (replaced) {
      free(before, word);
    } else {
      blobs.free(hash, word);
    }
    return replaced;
  }

  /**
   * Replaces a value if it is the one that is expected.
   *
   * @return whether it was; else it is loaded, if {@link #isThere}
   */
  boolean replace(MemorySegment expected, MemorySegment value) {
    while (loadAndCompare(expected)) {
      long before = words.value();
      long word = storeInPlaceOf(before, value);
      if (replaceWord(before, word)) {
        free(before, word);
        return true;
      }
    }
    return false;
  }

  /**
   * Replaces a value by one of the same size, for which the pool has no other room; returns whether
   * the value before is loaded, and not lost.
   */
  private boolean replaceInFullPool(MemorySegment value, PoolFullException full) {
    while (get()) {
      long before = words.value();
      long word = storeInPlaceOf(before, value);
      if (replaceWord(before, word)) {
        return loadAndFree(before, word);
      }
    }
    throw full;
  }

  private long storeInPlaceOf(long before, MemorySegment value) {
    return blobs.storeInPlaceOf(before, hash, value, 0, (int) value.byteSize());
  }

  /**
   * Replaces a word, if the entry still has it; returns whether it had. If not, frees the new one.
   */
  private boolean replaceWord(long before, long word) {
    boolean replaced = false;
    try {
      replaced = words.replace(key, before, word);
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
    if (!replaced) {
      blobs.free(hash, word);
    }
    return replaced;
  }

  /** Removes a value; returns whether there was one, which is loaded. */
  boolean remove() {
    return words.remove(key) && loadAndFree(words.value(), 0);
  }

  /** Removes a value if it is the one that is expected; else it is loaded, if {@link #isThere}. */
  boolean remove(MemorySegment expected) {
    while (loadAndCompare(expected)) {
      long before = words.value();
      if (words.remove(key, before)) {
        blobs.free(hash, before);
        return true;
      }
    }
    return false;
  }

  /** Removes a value if there is one. */
  void discard() {
    if (words.remove(key)) {
      blobs.free(hash, words.value());
    }
  }

  /** Frees a new word after a failure, unless it may be in the entry. */
  private void freeUnused(long word, Throwable failure) {
    if (!UnknownOutcomeException.isSaidBy(failure)) {
      blobs.free(hash, word);
    }
  }

  /**
   * Frees a word that was taken out of the entry, unless the one that took its place is the same:
   * that was lost, and the new blob has its place and, by chance, its stamp.
   */
  private void free(long before, long now) {
    if (before != now) {
      blobs.free(hash, before);
    }
  }

  /**
   * Loads the value of a word that was taken out of the entry, and frees it; returns {@code false}
   * if the value is lost.
   *
   * @param now the word that took its place
   */
  private boolean loadAndFree(long before, long now) {
    boolean loaded = false;
    try {
      loaded = (before != now || !Blobs.isBlob(now)) && blobs.load(hash, before);
    } catch (Throwable e) {
      free(before, now);
      throw Blobs.unreturned(keys.text(key), e);
    }
    if (loaded) {
      free(before, now);
    } else {
      lost.increment();
    }
    return loaded;
  }
}
