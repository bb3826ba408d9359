package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A copy of a page of the model table. Immutable. */
final class ModelPage {
  private static final int OBJECT_BYTES = 144;

  final long address;
  final long edition;
  final long low;
  final long high;

  /** Address of the page behind it, {@code NULL} if there is none. */
  final long next;

  final ModelArrays models;

  /** Makes a copy. The models are not changed from here on. */
  ModelPage(long address, long edition, long high, long next, ModelArrays models) {
    this.address = address;
    this.edition = edition;
    this.low = models.lows[0];
    this.high = high;
    this.next = next;
    this.models = models;
  }

  /**
   * Copies a page out of an image that is whole; {@code null} if what it says makes no sense.
   *
   * @param places knows where runs and pages can be
   */
  static @Nullable ModelPage of(
      MemorySegment memory, long image, long address, long edition, PoolPlaces places) {
    int count = PageLayout.models(memory, image);
    ModelArrays models = new ModelArrays(count);
    for (int i = 0; i < count; i++) {
      long low = PageLayout.lowOfModel(memory, image, i);
      long place = PageLayout.place(memory, image, i);
      long line = PageLayout.line(memory, image, i);
      boolean ascends = i == 0 ? low == PageLayout.low(memory, image) : models.lows[i - 1] < low;
      if (!ascends || !places.isRun(place) || !Line.isSound(line)) {
        return null;
      }
      models.add(low, place, line, PageLayout.stamp(memory, image, i));
    }
    long high = PageLayout.high(memory, image);
    long next = PageLayout.next(memory, image);
    boolean linked = high == Long.MAX_VALUE ? next == 0 : places.isPage(next);
    return linked && models.lows[count - 1] <= high
        ? new ModelPage(address, edition, high, next, models)
        : null;
  }

  boolean covers(long key) {
    return low <= key && key <= high;
  }

  /** Returns the greatest key of a model. */
  long highOf(int model) {
    return model + 1 < models.count() ? models.lows[model + 1] - 1 : high;
  }

  void copyTo(int model, ModelView target) {
    target.low = models.lows[model];
    target.high = highOf(model);
    target.place = models.places[model];
    target.line = models.lines[model];
    target.stamp = models.stamps[model];
  }

  /** Returns about how many bytes the copy takes. */
  long bytes() {
    return OBJECT_BYTES + models.bytes();
  }
}
