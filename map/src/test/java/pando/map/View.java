package pando.map;

import java.util.concurrent.ConcurrentNavigableMap;

/** A whole map or a part of it, upwards or downwards. */
enum View {
  WHOLE(false, false),
  RANGE(true, false),
  REVERSED(false, true),
  REVERSED_RANGE(true, true);

  /** Keys of parts are from 0 to this. */
  static final long END = 100;

  private final boolean part;
  private final boolean reversed;

  View(boolean part, boolean reversed) {
    this.part = part;
    this.reversed = reversed;
  }

  /** Returns this view of a map. */
  ConcurrentNavigableMap<Long, Long> of(ConcurrentNavigableMap<Long, Long> map) {
    ConcurrentNavigableMap<Long, Long> range = part ? map.subMap(0L, true, END, true) : map;
    return reversed ? range.descendingMap() : range;
  }

  boolean isPart() {
    return part;
  }

  /** Returns a key: they are in the order of the view, from 0 to 10. */
  Long key(int number) {
    return (reversed ? 10 - number : number) * 10L;
  }
}
