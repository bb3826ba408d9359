package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import pando.fabric.memory.Words;

/**
 * The bytes of a page of the model table. Pages lie in the order of keys, each names the next.
 *
 * <pre>
 *    0  edition   8   counts the changes; its lowest bit says which image counts
 *   64  image 0
 *       image 1       each half of what is left
 *
 *  image
 *    0  checksum  8   over the page's address and what follows, as far as it is used
 *    8  low       8   least key of the page
 *   16  high      8   greatest key of the page
 *   24  next      8   page after it, 0 behind the last
 *   32  models    8   their number
 *   40  model    32   for each: least key 8, place of its run 8, line 8, stamp of its leaves 8
 * </pre>
 *
 * <p>A change writes the image that is not valid, and then the edition. So a page changes
 * atomically, even if the process dies in between. A retired page has edition -1 and two images
 * without models.
 */
final class PageLayout {
  static final int EDITION = 0;
  static final int HEADER_BYTES = 64;

  /** In place of the edition of a page that was given back. */
  static final long RETIRED = -1;

  /** Models that a page has room for at least. */
  static final int CAPACITY_MIN = 3;

  private static final int CHECKSUM = 0;
  private static final int LOW = 8;
  private static final int HIGH = 16;
  private static final int NEXT = 24;
  private static final int MODELS = 32;
  private static final int IMAGE_HEADER_BYTES = 40;
  private static final int MODEL_BYTES = 32;
  private static final int PLACE = 8;
  private static final int LINE = 16;
  private static final int STAMP = 24;
  private static final int ALIGNMENT = 64;
  private static final long MULTIPLIER;

  static {
    MULTIPLIER = new SplittableRandom(0x801E_8A6E_0000_0001L).nextLong() | 1;
  }

  private final int pageBytes;
  private final int imageBytes;

  /**
   * Creates the layout of pages of a size.
   *
   * @throws IllegalArgumentException if there are no such pages
   */
  PageLayout(int pageBytes) {
    this.pageBytes = pageBytes;
    this.imageBytes = (pageBytes - HEADER_BYTES) / 2;
    if (pageBytes % ALIGNMENT != 0 || capacity() < CAPACITY_MIN) {
      throw new IllegalArgumentException(
          "no such pages of models: node-bytes=%s, multiple of %s, least=%s"
              .formatted(pageBytes, ALIGNMENT, least()));
    }
  }

  private static int least() {
    int bytes = HEADER_BYTES + 2 * (IMAGE_HEADER_BYTES + CAPACITY_MIN * MODEL_BYTES);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  int pageBytes() {
    return pageBytes;
  }

  /** Returns the models that a page has room for. */
  int capacity() {
    return (imageBytes - IMAGE_HEADER_BYTES) / MODEL_BYTES;
  }

  static long edition(MemorySegment memory, long page) {
    return Words.get(memory, page + EDITION);
  }

  static void setEdition(MemorySegment memory, long page, long edition) {
    Words.set(memory, page + EDITION, edition);
  }

  /** Returns where the image of an edition starts in a page. */
  int imageOffset(long edition) {
    return HEADER_BYTES + (int) (edition & 1) * imageBytes;
  }

  static long low(MemorySegment memory, long image) {
    return Words.get(memory, image + LOW);
  }

  static long high(MemorySegment memory, long image) {
    return Words.get(memory, image + HIGH);
  }

  static long next(MemorySegment memory, long image) {
    return Words.get(memory, image + NEXT);
  }

  static int models(MemorySegment memory, long image) {
    return (int) Words.get(memory, image + MODELS);
  }

  static long lowOfModel(MemorySegment memory, long image, int model) {
    return Words.get(memory, model(image, model));
  }

  static long place(MemorySegment memory, long image, int model) {
    return Words.get(memory, model(image, model) + PLACE);
  }

  static long line(MemorySegment memory, long image, int model) {
    return Words.get(memory, model(image, model) + LINE);
  }

  static long stamp(MemorySegment memory, long image, int model) {
    return Words.get(memory, model(image, model) + STAMP);
  }

  static void setModel(MemorySegment memory, long image, int model, ModelArrays models) {
    Words.set(memory, model(image, model), models.lows[model]);
    Words.set(memory, model(image, model) + PLACE, models.places[model]);
    Words.set(memory, model(image, model) + LINE, models.lines[model]);
    Words.set(memory, model(image, model) + STAMP, models.stamps[model]);
  }

  /** Completes an image whose models have been set. */
  static void seal(
      MemorySegment memory, long image, long address, long low, long high, long next, int models) {
    Words.set(memory, image + LOW, low);
    Words.set(memory, image + HIGH, high);
    Words.set(memory, image + NEXT, next);
    Words.set(memory, image + MODELS, models);
    Words.set(memory, image + CHECKSUM, computeChecksum(memory, image, address));
  }

  /** Returns where, in a page, the number of models stands in the image of an edition. */
  int modelsOffset(long edition) {
    return imageOffset(edition) + MODELS;
  }

  /** Returns the bytes of an image that are used. */
  static int usedBytes(MemorySegment memory, long image) {
    return IMAGE_HEADER_BYTES + models(memory, image) * MODEL_BYTES;
  }

  /** Returns whether an image is a consistent snapshot of the page at an address. */
  boolean isWhole(MemorySegment memory, long image, long address) {
    long models = Words.get(memory, image + MODELS);
    return models >= 1
        && models <= capacity()
        && Words.get(memory, image + CHECKSUM) == computeChecksum(memory, image, address);
  }

  private static long computeChecksum(MemorySegment memory, long image, long address) {
    int bytes = usedBytes(memory, image);
    long sum = address;
    for (int at = Long.BYTES; at < bytes; at += Long.BYTES) {
      sum = (sum ^ Words.get(memory, image + at)) * MULTIPLIER;
      sum ^= sum >>> Integer.SIZE;
    }
    return ~sum;
  }

  private static long model(long image, int model) {
    return image + IMAGE_HEADER_BYTES + (long) model * MODEL_BYTES;
  }
}
