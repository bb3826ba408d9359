package pando.index.load;

import java.util.Arrays;

/** The fences of evenly spaced leaves, at most so many, of a tree that is being built. */
public final class Fences {
  private static final int FENCES_MAX = 1 << 16;

  private long[] fences = new long[1024];
  private int count;
  private long stride = 1;
  private long leaves;

  /** Creates an empty sample. */
  public Fences() {}

  /** Takes note of the next leaf's low fence. */
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
   * Returns the fence below which about {@code part} of {@code parts} of all leaves lie. Different
   * for different parts where there are as many leaves.
   */
  public long at(int part, int parts) {
    return fences[(int) ((long) part * count / parts)];
  }
}
