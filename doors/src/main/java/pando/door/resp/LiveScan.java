package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteVisitor;

/**
 * A scan of a {@link Store} that passes over entries that are due. The limit is one of entries that
 * are visited, so the scan goes on for as many more as it has passed over. Not thread-safe.
 */
final class LiveScan implements ByteVisitor {
  /** So many bytes count as much as another entry. */
  private static final int BYTES_OF_WORK = 4096;

  private final Store store;
  private final ByteVisitor visitor;
  private final long limit;
  private long passed;
  private boolean goesOn = true;

  /** The key that was visited last or passed over, once one was passed over. */
  private byte[] last = {};

  LiveScan(Store store, ByteVisitor visitor, long limit) {
    this.store = store;
    this.visitor = visitor;
    this.limit = limit;
  }

  /**
   * Visits entries from the least key to that before {@code end}, or the other way round.
   *
   * @param end {@code null} if the range has no end
   * @return how many were visited
   */
  long run(byte[] from, byte @Nullable [] end, boolean down) {
    MemorySegment least = MemorySegment.ofArray(from);
    MemorySegment behind = end == null ? null : MemorySegment.ofArray(end);
    long visited = 0;
    long rest = limit;
    while (rest > 0) { // as many more as were passed over
      passed = 0;
      long some =
          down
              ? store.session().scanDown(behind, least, rest, this)
              : store.session().scan(least, behind, rest, this);
      visited += some - passed;
      rest = goesOn && some == rest ? passed : 0;
      if (rest > 0 && down) {
        behind = MemorySegment.ofArray(last);
      } else if (rest > 0) {
        byte[] next = store.behind(last);
        rest = next == null ? 0 : rest;
        least = next == null ? least : MemorySegment.ofArray(next);
      }
    }
    return visited;
  }

  @Override
  public boolean visit(MemorySegment key, MemorySegment value) {
    store.checkGoesOn();
    store.work(1 + (key.byteSize() + value.byteSize()) / BYTES_OF_WORK);
    boolean isPassed = store.isDue(value);
    passed += isPassed ? 1 : 0;
    if (limit < Long.MAX_VALUE && passed > 0) {
      last = key.toArray(JAVA_BYTE);
    }
    goesOn = isPassed || visitor.visit(key, value);
    return goesOn;
  }
}
