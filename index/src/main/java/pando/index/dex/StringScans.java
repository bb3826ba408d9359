package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.NotServedHereException;
import pando.index.blob.Blobs;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.ByteVisitor;
import pando.index.bytes.KeyBounds;
import pando.index.session.Gate;

/** Entries in order: neighbours of a key, and scans. */
final class StringScans {
  /** Entries whose words are read before their values are loaded. */
  private static final int BATCH = 64;

  private final WideSession words;
  private final Blobs blobs;
  private final StringKeys keys;
  private final StringEntry entry;
  private final Gate.Pass pass;

  /** Where a search, or the next batch of a scan, begins. */
  private final MemorySegment from;

  /** The last key of a scan. */
  private final MemorySegment last;

  // Of a batch: keys, their hashes and words, and where the values that were loaded are.
  private @Nullable MemorySegment batchKeys;
  private final long[] hashes = new long[BATCH];
  private final long[] batchWords = new long[BATCH];
  private final MemorySegment[] in = new MemorySegment[BATCH];
  private final long[] at = new long[BATCH];
  private final int[] lengths = new int[BATCH];

  /** Number of the first entry of the batch whose value was not loaded yet. */
  private int loadedEnd;

  private int size;

  /** Why a batch ended before its last key, if it did. */
  private @Nullable NotServedHereException elsewhere;

  private final Blobs.Receiver loaded = this::setLoaded;
  private final WideVisitor collector = this::collect;

  StringScans(WideSession words, Blobs blobs, StringKeys keys, StringEntry entry, Gate.Pass pass) {
    this.words = words;
    this.blobs = blobs;
    this.keys = keys;
    this.entry = entry;
    this.pass = pass;
    this.from = keys.make();
    this.last = keys.make();
  }

  /** A neighbour, as it is searched for. */
  enum Neighbour {
    FLOOR,
    CEILING,
    LOWER,
    HIGHER,
    FIRST,
    LAST
  }

  /**
   * Finds an entry, whose key the words' session has then, and whose value is loaded.
   *
   * @param wanted key of the search, if it has one
   */
  boolean find(Neighbour neighbour, @Nullable MemorySegment wanted) {
    if (wanted != null && !setBound(neighbour, wanted)) {
      return false;
    }
    while (search(neighbour)) {
      MemorySegment found = words.key();
      if (blobs.load(keys.hash(found), words.value())) {
        return true;
      }
      // The entry has changed, or else its value is lost: then it is removed.
      entry.seekKey(found);
      entry.get();
    }
    return false;
  }

  /** Sets where a search begins; returns whether there are keys to look for. */
  private boolean setBound(Neighbour neighbour, MemorySegment wanted) {
    if (neighbour == Neighbour.LOWER) {
      return setEnd(wanted, from);
    }
    keys.write(wanted, from);
    return true;
  }

  private boolean search(Neighbour neighbour) {
    return switch (neighbour) {
      case FLOOR, LOWER -> words.floor(from);
      case CEILING -> words.ceiling(from);
      case HIGHER -> words.higher(from);
      case FIRST -> words.first();
      case LAST -> words.last();
    };
  }

  /** As {@link pando.index.bytes.ByteSession#scan}; the arguments have been checked. */
  long scan(MemorySegment low, @Nullable MemorySegment end, long limit, ByteVisitor visitor) {
    keys.write(low, from);
    return setEnd(end, last) ? visit(false, limit, visitor) : 0;
  }

  /** As {@link pando.index.bytes.ByteSession#scanDown}; the arguments have been checked. */
  long scanDown(@Nullable MemorySegment end, MemorySegment low, long limit, ByteVisitor visitor) {
    keys.write(low, last);
    return setEnd(end, from) ? visit(true, limit, visitor) : 0;
  }

  /**
   * Writes the greatest key below the end of a range; returns whether there is one. Ranges of
   * compute servers begin with the least string of a partition key: below it is another one's, and
   * a key with the same first 8 bytes must not be looked for here.
   */
  private boolean setEnd(@Nullable MemorySegment end, MemorySegment key) {
    if (end == null) {
      keys.writeGreatest(Long.MAX_VALUE, key);
      return true;
    }
    if (end.byteSize() == 0) {
      return false;
    }
    long below = KeyBounds.partitionKeyBelow(end);
    if (below < ByteStrings.partitionKey(end)) {
      keys.writeGreatest(below, key);
      return true;
    }
    keys.write(end, key);
    return keys.step(key, true);
  }

  private long visit(boolean down, long limit, ByteVisitor visitor) {
    long visited = 0;
    boolean goesOn = isInRange(down);
    while (goesOn && visited < limit) {
      int asked = (int) Math.min(BATCH, limit - visited);
      boolean isLast = read(down, asked);
      for (int next = 0; goesOn && next < size; next++) {
        if (isLoaded(next)) {
          visited++;
          goesOn = visitor.visit(string(next), value(next));
        }
      }
      if (goesOn && visited < limit && elsewhere != null) {
        throw elsewhere;
      }
      goesOn &= !isLast && goesOnBehind(down);
    }
    return visited;
  }

  /** Returns whether an entry of the batch is there still; its value is loaded then. */
  private boolean isLoaded(int number) {
    if (number >= loadedEnd) {
      loadedEnd = load(number);
    }
    if (lengths[number] >= 0) {
      return true;
    }
    // To read the entry again takes the place of the values behind it.
    loadedEnd = number + 1;
    return loadAgain(number);
  }

  private boolean isInRange(boolean down) {
    int order = ByteIndex.compare(from, last);
    return down ? order >= 0 : order <= 0;
  }

  /** Reads the words of the next entries; returns whether there are no others. */
  private boolean read(boolean down, int asked) {
    size = 0;
    loadedEnd = 0;
    elsewhere = null;
    pass.enter();
    try {
      if (down) {
        words.scanDown(from, last, asked, collector);
      } else {
        words.scan(from, last, asked, collector);
      }
    } catch (NotServedHereException e) {
      // Those that were found are visited first.
      elsewhere = e;
    } finally {
      pass.exit();
    }
    return size < asked;
  }

  private boolean collect(MemorySegment key, long word) {
    MemorySegment its = keys.key(batch(), size);
    MemorySegment.copy(key, 0, its, 0, its.byteSize());
    hashes[size] = keys.hash(its);
    batchWords[size++] = word;
    return true;
  }

  private MemorySegment batch() {
    MemorySegment made = batchKeys;
    if (made == null) {
      made = keys.make(BATCH);
      batchKeys = made;
    }
    return made;
  }

  private MemorySegment string(int number) {
    return keys.string(keys.key(batch(), number)).asReadOnly();
  }

  private MemorySegment value(int number) {
    return in[number].asSlice(at[number], lengths[number]).asReadOnly();
  }

  /** Loads the values of the next entries; returns the number of the first without. */
  private int load(int next) {
    pass.enter();
    try {
      return blobs.loadSome(hashes, batchWords, next, size, loaded);
    } finally {
      pass.exit();
    }
  }

  private void setLoaded(int number, MemorySegment bytes, long offset, int length) {
    in[number] = bytes;
    at[number] = offset;
    lengths[number] = length;
  }

  /** Loads the value of an entry whose word has changed; returns whether there is one. */
  private boolean loadAgain(int number) {
    pass.enter();
    try {
      entry.seekKey(keys.key(batch(), number));
      boolean found = entry.get();
      if (found) {
        setLoaded(number, blobs.bytes(), blobs.offset(), blobs.length());
      }
      return found;
    } finally {
      pass.exit();
    }
  }

  /** Goes to the key behind the last one of a batch; returns whether it is in the range. */
  private boolean goesOnBehind(boolean down) {
    MemorySegment.copy(keys.key(batch(), size - 1), 0, from, 0, from.byteSize());
    return keys.step(from, down) && isInRange(down);
  }
}
