package pando.index.blob;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import pando.index.PoolPart;

/** Counts blobs, and what is in them, by their sizes. Not thread-safe. */
public final class BlobCount {
  private final Blobs blobs;
  private final boolean isShared;
  private final BlobClasses classes;
  private final String what;
  private final long[] counts;
  private final long[] held;

  /**
   * Creates a count.
   *
   * @param blobs READs how long values are
   * @param what the blobs are, such as {@code values}
   */
  public BlobCount(BlobSpace space, Blobs blobs, String what) {
    this.blobs = blobs;
    this.isShared = space.isShared();
    this.classes = space.classes();
    this.what = what;
    this.counts = new long[classes.count()];
    this.held = new long[classes.count()];
  }

  /**
   * Counts the blobs that a word stands for, if any. Where several processes share them, one that
   * was freed does not count.
   *
   * @param key of the entry that has the word
   */
  public void add(long key, long word) {
    if (!BlobWord.isBlob(word) || (isShared && !blobs.isThere(key, word))) {
      return;
    }
    addBlob(word);
    if (BlobWord.hasParts(word) && blobs.loadBlob(key, word)) {
      for (long part : blobs.partWords()) {
        addBlob(part);
      }
    }
  }

  private void addBlob(long word) {
    int sizeClass = BlobWord.sizeClass(word);
    counts[sizeClass]++;
    held[sizeClass] += blobs.bytesHeld(word);
  }

  /** Returns what was counted, by sizes. */
  public List<PoolPart> parts() {
    List<PoolPart> parts = new ArrayList<>();
    for (int number = 0; number < counts.length; number++) {
      if (counts[number] > 0) {
        String name = String.format(Locale.ROOT, "%s of %,d bytes", what, classes.bytes(number));
        long bytes = counts[number] * classes.bytes(number);
        parts.add(new PoolPart(name, counts[number], bytes, held[number], bytes));
      }
    }
    return parts;
  }
}
