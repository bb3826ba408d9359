package pando.index.sherman;

/** What a write does with a key that is there, and with one that is not. */
enum Operation {
  PUT(true, true),
  PUT_IF_ABSENT(false, true),
  UPDATE(true, false),
  REMOVE(true, false);

  /** Whether it changes an entry that is there. */
  final boolean changes;

  /** Whether it adds an entry that is not. */
  final boolean adds;

  Operation(boolean changes, boolean adds) {
    this.changes = changes;
    this.adds = adds;
  }
}
