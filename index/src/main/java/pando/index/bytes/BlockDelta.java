package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Changes of a block that wait in local memory, one for each key that has changed, in the order of
 * the keys. Immutable.
 *
 * <pre>
 *   changes: key 2 | value 2 | key | value
 * </pre>
 *
 * <p>A change has the lengths of its key and of its value. As in a {@link Segment}, a value of
 * length 65,535 is the word of a blob; one of length 65,534 is none: the key is removed.
 */
final class BlockDelta implements SortedRecords {
  /** No changes. */
  static final BlockDelta NONE = new BlockDelta(new byte[0], new int[0], 0, 0);

  private static final int REMOVED = 0xfffe;

  /** Bytes of the objects beside the two arrays, with the arrays' own headers. */
  private static final int OBJECT_BYTES = 32 + 40 + 2 * 16;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final MemorySegment bytes;

  /** Where each change is. */
  private final int[] places;

  private final int growth;
  private final int removedBytes;

  private BlockDelta(byte[] array, int[] places, int growth, int removedBytes) {
    this.bytes = MemorySegment.ofArray(array);
    this.places = places;
    this.growth = growth;
    this.removedBytes = removedBytes;
  }

  @Override
  public int count() {
    return places.length;
  }

  /** Returns about how many bytes more the block takes with the changes, at the most. */
  int growth() {
    return growth;
  }

  /** Returns about how many bytes of the block its removed records take, at the most. */
  int removedBytes() {
    return removedBytes;
  }

  /** Returns the bytes of local memory that the changes take. */
  long localBytes() {
    return count() == 0 ? 0 : OBJECT_BYTES + bytes.byteSize() + (long) count() * Integer.BYTES;
  }

  /** Returns the bytes of all changes. */
  long size() {
    return bytes.byteSize();
  }

  @Override
  public MemorySegment memory(int i) {
    return bytes;
  }

  @Override
  public int record(int i) {
    return places[i];
  }

  private long end(int i) {
    return i + 1 < places.length ? places[i + 1] : bytes.byteSize();
  }

  @Override
  public int compare(int i, MemorySegment key) {
    long at = places[i];
    return KeyOrder.compare(
        bytes, Segment.suffix(at), Segment.suffixBytes(bytes, at), key, 0, key.byteSize());
  }

  @Override
  public MemorySegment key(int i) {
    return bytes.asSlice(Segment.suffix(places[i]), Segment.suffixBytes(bytes, places[i]));
  }

  /** Returns whether the change is that the key is not there. */
  boolean isRemoved(int i) {
    return (bytes.get(Block.SHORT, places[i] + 2L) & 0xffff) == REMOVED;
  }

  /**
   * Returns what {@link #find} returns of the keys of all changes in a block.
   *
   * @param block whose range has all keys
   */
  int[] findIn(Block block) {
    int[] found = new int[count()];
    int below = 0;
    for (int i = 0; i < found.length; i++) {
      found[i] = block.find(key(i), below);
      below = found[i] < 0 ? -1 - found[i] : found[i] + 1;
    }
    return found;
  }

  /**
   * Returns these changes with another one, in place of one of its key.
   *
   * @param found what {@link #find} returns for the key
   * @param stored the value, or the word of a blob
   * @param more bytes that the block takes for it at the most
   */
  BlockDelta with(int found, MemorySegment key, MemorySegment stored, boolean blob, int more) {
    int length = blob ? Segment.BLOB : (int) stored.byteSize();
    return changed(found, key, stored, length, growth + more, removedBytes);
  }

  /**
   * Returns these changes with the removal of a key.
   *
   * @param found what {@link #find} returns for the key
   * @param fewer bytes that the record takes at the most
   */
  BlockDelta without(int found, MemorySegment key, int fewer) {
    return changed(found, key, NOTHING, REMOVED, growth, removedBytes + fewer);
  }

  private BlockDelta changed(
      int found,
      MemorySegment key,
      MemorySegment stored,
      int length,
      int newGrowth,
      int newRemovedBytes) {
    boolean replaces = found >= 0;
    int number = replaces ? found : -1 - found;
    int start = number < places.length ? places[number] : (int) bytes.byteSize();
    long rest = replaces ? end(number) : start;
    int size = Segment.LENGTHS_BYTES + (int) key.byteSize() + (int) stored.byteSize();
    long behind = bytes.byteSize() - rest;
    byte[] array = new byte[Math.toIntExact(start + size + behind)];
    MemorySegment to = MemorySegment.ofArray(array);
    MemorySegment.copy(bytes, 0, to, 0, start);
    to.set(Block.SHORT, start, (short) key.byteSize());
    to.set(Block.SHORT, start + 2L, (short) length);
    MemorySegment.copy(key, 0, to, Segment.suffix(start), key.byteSize());
    MemorySegment.copy(stored, 0, to, Segment.suffix(start) + key.byteSize(), stored.byteSize());
    MemorySegment.copy(bytes, rest, to, start + size, behind);
    int[] moved = placesWith(number, replaces, (int) (start + size - rest));
    return new BlockDelta(array, moved, newGrowth, newRemovedBytes);
  }

  /** Returns the places with one more, or the same ones; those behind are moved. */
  private int[] placesWith(int number, boolean replaces, int moved) {
    int[] next = Arrays.copyOf(places, replaces ? places.length : places.length + 1);
    int behind = replaces ? number + 1 : number;
    for (int i = behind; i < places.length; i++) {
      next[replaces ? i : i + 1] = places[i] + moved;
    }
    if (!replaces) {
      next[number] = number < places.length ? places[number] : (int) bytes.byteSize();
    }
    return next;
  }
}
