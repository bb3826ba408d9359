package pando.index.load;

import java.util.Arrays;

/**
 * A sample of the low fences of a tree that is being built: of evenly spaced leaves, in bounded
 * space.
 */
public final class FenceSample {
  private static final int FENCES_MAX = 1 << 16;

  private long[] fences = new long[1024];
  private int count;
  private long stride = 1;
  private long leaves;

  /** Creates an empty sample. */
  public FenceSample() {}

  /** Adds the low fence of the next leaf. */
  public void add(long low) {
    if (leaves++ % stride != 0) {
      return;
    }
    if (count == FENCES_MAX) {
      for (int i = 0; i < FENCES_MAX / 2; i++) {
        fences[i] = fences[2 * i];
      }
      count = FENCES_MAX / 2;
      stride *= 2;
      return;
    }
    if (count == fences.length) {
      fences = Arrays.copyOf(fences, 2 * count);
    }
    fences[count++] = low;
  }

  /**
   * Returns a fence below which about the share {@code part / parts} of all leaves lies. If there
   * are at least {@code parts} leaves, different parts have different fences.
   */
  public long at(int part, int parts) {
    return fences[(int) ((long) part * count / parts)];
  }
}
