package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A request: a command and its arguments, which lie in one array, each with a byte in front of it
 * that can be overwritten. Argument 0 is the command. Valid until the reader {@linkplain
 * RespReader#readAhead reads ahead} or {@linkplain RespReader#rest rests}.
 */
final class RespRequest {
  /** Messages have so many bytes of an argument at the most. */
  static final int SHOWN_MAX = 128;

  private static final int ARGUMENTS = 16;

  /** A request with more arguments does not keep the room for them. */
  private static final int ARGUMENTS_KEPT = 1024;

  private byte[] bytes = new byte[0];
  private MemorySegment segment = MemorySegment.ofArray(bytes);
  private int base;
  private int[] places = new int[2 * ARGUMENTS];
  private int count;
  private int frameEnd;
  private int frameBytes;

  /** Begins another request; its arguments are given from now on. */
  void clear() {
    count = 0;
    if (places.length > 2 * ARGUMENTS_KEPT) {
      places = new int[2 * ARGUMENTS];
    }
  }

  /** Adds an argument, whose place counts from the base. */
  void add(int place, int length) {
    if (2 * count == places.length) {
      places = Arrays.copyOf(places, 2 * places.length);
    }
    places[2 * count] = place;
    places[2 * count + 1] = length;
    count++;
  }

  /** Says where the arguments lie. */
  @SuppressWarnings("ReferenceEquality") // Another array needs another segment.
  void setBytes(byte[] array, int from) {
    if (array != bytes) {
      bytes = array;
      segment = MemorySegment.ofArray(array);
    }
    base = from;
  }

  /** Returns the bytes of local memory that many arguments take, 0 if it is the usual room. */
  long placesBytes() {
    return places.length > 2 * ARGUMENTS_KEPT ? (long) places.length * Integer.BYTES : 0;
  }

  /** Returns a request with the same arguments, which lie in another array. */
  RespRequest copied() {
    RespRequest copy = new RespRequest();
    byte[] its = new byte[copiedBytes()];
    int at = 0;
    for (int i = 0; i < count; i++) {
      at++; // room for a byte in front
      System.arraycopy(bytes, start(i), its, at, length(i));
      copy.add(at, length(i));
      at += length(i);
    }
    copy.setBytes(its, 0);
    return copy;
  }

  private int copiedBytes() {
    int sum = count;
    for (int i = 0; i < count; i++) {
      sum += length(i);
    }
    return sum;
  }

  /** Returns what a copy takes in local memory, with the places of arguments. */
  long copyBytes() {
    return copiedBytes() + (long) places.length * Integer.BYTES;
  }

  /** Forgets the bytes, so that they are not kept, unless they lie in an array that stays. */
  @SuppressWarnings("ReferenceEquality") // Whether it is that array.
  void release(byte[] staying) {
    if (bytes != staying) {
      forgetBytes();
    }
    clear();
  }

  /** Forgets the bytes of an earlier request; the places of arguments stay. */
  void forgetBytes() {
    setBytes(RespReader.NOTHING, 0);
  }

  /**
   * Says where the frame of the request was.
   *
   * @param end place behind it
   */
  void setFrame(int end, int length) {
    frameEnd = end;
    frameBytes = length;
  }

  /** Returns the place behind the frame of the request. */
  int frameEnd() {
    return frameEnd;
  }

  /** Returns the length of the frame of the request. */
  int frameBytes() {
    return frameBytes;
  }

  /** Returns the number of arguments, with the command. */
  int count() {
    return count;
  }

  /** Returns the array that has the arguments. */
  byte[] bytes() {
    return bytes;
  }

  /** Returns where an argument begins in {@link #bytes}. */
  int start(int i) {
    return base + places[2 * i];
  }

  int length(int i) {
    return places[2 * i + 1];
  }

  /** Restores the line ends in front of arguments, so that the frame can be read again. */
  void restore() {
    for (int i = 0; i < count; i++) {
      bytes[start(i) - 1] = '\n';
    }
  }

  /** Returns the bytes of an argument behind one further byte; copies nothing. */
  MemorySegment prefixed(int i, byte prefix) {
    int start = start(i) - 1;
    bytes[start] = prefix;
    return segment.asSlice(start, length(i) + 1L);
  }

  /** Returns the bytes of an argument; copies nothing. */
  MemorySegment argument(int i) {
    return segment.asSlice(start(i), length(i));
  }

  /** Returns a copy of an argument, with zeros in front of it. */
  byte[] copy(int i, int zeros) {
    byte[] copy = new byte[zeros + length(i)];
    System.arraycopy(bytes, start(i), copy, zeros, length(i));
    return copy;
  }

  /** Returns an argument as text, each byte a character. */
  String text(int i) {
    return new String(bytes, start(i), length(i), ISO_8859_1);
  }

  /**
   * Returns the start of an argument for a message: line ends are blanks, what cannot be shown a
   * question mark.
   */
  String shown(int i) {
    return shown(i, SHOWN_MAX);
  }

  /** Returns at most so many bytes of an argument for a message. */
  String shown(int i, int most) {
    String text = new String(bytes, start(i), Math.min(length(i), most), ISO_8859_1);
    return text.replaceAll("[\r\n]", " ").replaceAll("[^ -~]", "?");
  }

  /** Returns whether an argument is a word, in capitals or not. */
  boolean is(int i, String word) {
    int length = length(i);
    if (length != word.length()) {
      return false;
    }
    int start = start(i);
    for (int at = 0; at < length; at++) {
      if (Ascii.upper(bytes[start + at]) != word.charAt(at)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns an argument as a whole number.
   *
   * @throws Refusal if it is none
   */
  long integer(int i) {
    return Ascii.integer(bytes, start(i), length(i));
  }
}
