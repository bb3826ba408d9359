package pando.door.resp;

import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes what a connection reads apart into requests: arrays of bulk strings, or lines of words. A
 * frame may come in any number of pieces, and is taken apart as they come. Nothing is allocated
 * because a length says so, but only as bytes come.
 *
 * <p>Most reads bring whole requests. Their bytes are only in an array that all connections of an
 * event loop share; what is left of a read is kept in an array of the connection.
 */
final class RespReader {
  static final int FRAME_BYTES_MAX = 16 << 20;
  static final int ARGUMENTS_MAX = 1 << 20;
  static final int LINE_BYTES_MAX = 64 << 10;

  /** What a client may send before it has given its password. */
  private static final int STRANGERS_FRAME_BYTES_MAX = 16 << 10;

  private static final int STRANGERS_ARGUMENTS_MAX = 10;

  /** Bytes of a line that is only a number, with its mark and its end. */
  private static final int NUMBER_LINE_BYTES_MAX = 32;

  /** As many bytes of a request that has not come as a whole are copied for each read. */
  private static final int KEPT_BYTES_SHARED = 4096;

  static final byte[] NOTHING = new byte[0];

  private final byte[] shared;
  private final RespRequest[] ahead;
  private final MemoryBudget budget;
  private final RespClient client;

  private byte[] bytes = NOTHING;
  private int from;
  private int to;

  // Requests that were taken apart and not returned yet: the first of them, and behind the last.
  private int first;
  private int last;

  /** So many requests of the event loop, from the first on, may have got bytes since a feed. */
  private int filled;

  /** A request of which a part came with an earlier read, {@code null} if there is none. */
  private @Nullable RespRequest begun;

  /** Where the frame begins that is taken apart: behind those of all requests ahead. */
  private int frame;

  // Of that frame; places count from its begin.
  private int place;
  private int expected = -1;
  private boolean isInline;

  /** Bytes that are counted for the places of its arguments. */
  private long placesBytes;

  /**
   * Prepares a reader.
   *
   * @param shared array of the event loop, used between {@link #feed} and {@link #rest}
   * @param ahead requests of the event loop, used as long
   */
  RespReader(byte[] shared, RespRequest[] ahead, MemoryBudget budget, RespClient client) {
    this.shared = shared;
    this.ahead = ahead;
    this.budget = budget;
    this.client = client;
  }

  /**
   * Takes bytes.
   *
   * @throws ProtocolException if all connections together have too many unfinished requests
   */
  void feed(ByteBuf in) throws ProtocolException {
    int length = in.readableBytes();
    int kept = to - from;
    if (kept <= KEPT_BYTES_SHARED && kept + length <= shared.length) {
      System.arraycopy(bytes, from, shared, 0, kept);
      giveBack();
      bytes = shared;
      from = 0;
      to = kept;
      frame = from;
    } else if (bytes.length - to < length) {
      makeRoom(length);
    }
    in.readBytes(bytes, to, length);
    to += length;
  }

  @SuppressWarnings("ReferenceEquality") // Whether it is that array.
  private boolean isOwn() {
    return bytes != shared && bytes != NOTHING;
  }

  private void makeRoom(int length) throws ProtocolException {
    int kept = to - from;
    if (kept <= bytes.length / 2 && bytes.length - kept >= length) {
      System.arraycopy(bytes, from, bytes, 0, kept);
    } else {
      byte[] larger = own(Math.max(kept + length, 2 * kept));
      System.arraycopy(bytes, from, larger, 0, kept);
      giveBack();
      bytes = larger;
    }
    from = 0;
    to = kept;
    frame = from;
  }

  private byte[] own(int length) throws ProtocolException {
    if (!budget.tryTake(length)) {
      throw noMemory();
    }
    return new byte[length];
  }

  private static ProtocolException noMemory() {
    return new ProtocolException("the server has no memory for further unfinished requests");
  }

  private void giveBack() {
    if (isOwn()) {
      budget.giveBack(bytes.length);
    }
    bytes = NOTHING;
  }

  /** Keeps what is left of the bytes for the next read. */
  void rest() throws ProtocolException {
    forgetAhead();
    client.requestBytes = to - from;
    if (from == to) {
      forget();
    } else if (!isOwn()) {
      byte[] kept = own(to - from);
      System.arraycopy(bytes, from, kept, 0, to - from);
      bytes = kept;
      to -= from;
      from = 0;
      frame = from;
    }
    countPlaces();
  }

  /** Takes requests that are not run now apart again later; keeps a part of one that has come. */
  private void forgetAhead() {
    if (first < last) {
      for (int i = first; i < last; i++) {
        ahead[i].restore();
      }
      beginFrame(from);
    } else {
      from = frame;
    }
    if (expected >= 0 && begun == null) {
      begun = ahead[last];
      begun.forgetBytes();
      ahead[last] = new RespRequest();
    }
    release();
  }

  /** Lets no request of the event loop keep an array of this connection. */
  private void release() {
    for (int i = 0; i < filled; i++) {
      ahead[i].release(shared);
    }
    filled = 0;
    first = 0;
    last = 0;
  }

  private void beginFrame(int start) {
    frame = start;
    place = 0;
    expected = -1;
  }

  /** Counts the memory for the places of many arguments, of a request that has not ended. */
  private void countPlaces() throws ProtocolException {
    RespRequest its = begun;
    long now = its == null ? 0 : its.placesBytes();
    if (now > placesBytes && !budget.tryTake(now - placesBytes)) {
      throw noMemory();
    }
    if (now < placesBytes) {
      budget.giveBack(placesBytes - now);
    }
    placesBytes = now;
  }

  /** Forgets all bytes, and the requests that are ahead. */
  void close() {
    forget();
    release();
    begun = null;
    budget.giveBack(placesBytes);
    placesBytes = 0;
  }

  private void forget() {
    giveBack();
    from = 0;
    to = 0;
    frame = 0;
  }

  /** Returns how many bytes there are that no request was made of. */
  int bytes() {
    return to - from;
  }

  /** Returns the next of the requests that were taken apart, {@code null} if there is none. */
  @Nullable RespRequest next() {
    if (first == last) {
      return null;
    }
    RespRequest request = ahead[first++];
    from = request.frameEnd();
    client.requestBytes = request.frameBytes();
    return request;
  }

  /** Returns whether there is one that was taken apart and not returned. */
  boolean isAhead() {
    return first < last;
  }

  /**
   * Takes the next requests apart, some at the most, if none is ahead.
   *
   * @return how many there are
   * @throws ProtocolException if no request can follow
   */
  int readAhead() throws ProtocolException {
    if (begun != null) {
      ahead[0] = begun;
      begun = null;
    } else if (expected >= 0) {
      RespRequest its = ahead[last]; // has a part of the frame
      ahead[last] = ahead[0];
      ahead[0] = its;
    }
    first = 0;
    last = 0;
    from = frame;
    int most = client.isStranger ? 1 : ahead.length;
    try {
      while (last < most && readFrame(ahead[last])) {
        last++;
      }
    } catch (ProtocolException e) {
      if (last == 0) {
        throw e;
      }
      beginFrame(frame); // its turn comes behind those that are whole
    } finally {
      filled = Math.max(filled, Math.min(last + 1, ahead.length));
    }
    return last;
  }

  /** Takes the next frame apart that has a request; returns {@code false} if it has not come. */
  private boolean readFrame(RespRequest request) throws ProtocolException {
    while (expected >= 0 || begin(request)) {
      if (!readArguments(request)) {
        return false;
      }
      int end = frame + place;
      if (request.count() > 0) {
        if (!isInline) {
          request.setBytes(bytes, frame);
        }
        request.setFrame(end, place);
        beginFrame(end);
        return true;
      }
      beginFrame(end);
    }
    return false;
  }

  /** Reads what a frame begins with; returns {@code false} if that has not come. */
  private boolean begin(RespRequest request) throws ProtocolException {
    if (frame == to) {
      return false;
    }
    isInline = bytes[frame] != '*';
    if (isInline) {
      return readLine(request);
    }
    int end = endOfNumber(0, "invalid multibulk length");
    if (end < 0) {
      return false;
    }
    long count = number(0, end, "invalid multibulk length");
    if (count > (client.isStranger ? STRANGERS_ARGUMENTS_MAX : ARGUMENTS_MAX)) {
      throw new ProtocolException(
          client.isStranger ? "unauthenticated multibulk length" : "invalid multibulk length");
    }
    expected = (int) Math.max(count, 0);
    place = end + 2;
    request.clear();
    return true;
  }

  private boolean readArguments(RespRequest request) throws ProtocolException {
    while (request.count() < expected) {
      if (frame + place == to) {
        return false;
      }
      if (bytes[frame + place] != '$') {
        throw new ProtocolException("expected '$', got '" + shown(bytes[frame + place]) + "'");
      }
      int end = endOfNumber(place, "invalid bulk length");
      if (end < 0) {
        return false;
      }
      long length = number(place, end, "invalid bulk length");
      int frameMax = client.isStranger ? STRANGERS_FRAME_BYTES_MAX : FRAME_BYTES_MAX;
      if (length < 0 || length > frameMax) {
        throw new ProtocolException(
            client.isStranger && length > 0
                ? "unauthenticated bulk length"
                : "invalid bulk length");
      }
      int start = end + 2;
      long behind = start + length + 2;
      if (behind > frameMax) {
        throw new ProtocolException("too big request: maximum=" + frameMax);
      }
      if (to - frame < behind) {
        return false;
      }
      int argumentEnd = frame + (int) behind;
      if (bytes[argumentEnd - 2] != '\r' || bytes[argumentEnd - 1] != '\n') {
        throw new ProtocolException("no line end behind a bulk string");
      }
      request.add(start, (int) length);
      place = (int) behind;
    }
    return true;
  }

  private static char shown(byte letter) {
    return letter >= ' ' && letter <= '~' ? (char) letter : '?';
  }

  /** Returns the place of the line end behind a number, or -1 if it has not come. */
  private int endOfNumber(int start, String otherwise) throws ProtocolException {
    int least = frame + start + 1;
    int most = Math.min(to, frame + start + NUMBER_LINE_BYTES_MAX);
    for (int at = least; at < most; at++) {
      if (bytes[at] == '\r') {
        if (at + 1 == to) {
          return -1;
        }
        if (bytes[at + 1] != '\n') {
          throw new ProtocolException(otherwise);
        }
        return at - frame;
      }
    }
    if (most < to) {
      throw new ProtocolException(otherwise);
    }
    return -1;
  }

  private long number(int start, int end, String otherwise) throws ProtocolException {
    try {
      return Ascii.integer(bytes, frame + start + 1, end - start - 1);
    } catch (Refusal e) {
      throw new ProtocolException(otherwise);
    }
  }

  /** Reads a line of words; returns {@code false} if it has not come. */
  private boolean readLine(RespRequest request) throws ProtocolException {
    int at = frame + place; // what was looked at before has no end
    while (at < to && bytes[at] != '\n') {
      at++;
    }
    place = at - frame;
    if (place > (client.isStranger ? STRANGERS_FRAME_BYTES_MAX : LINE_BYTES_MAX)) {
      throw new ProtocolException("too big inline request");
    }
    if (at == to) {
      return false;
    }
    int end = frame; // or at a NUL, at which Redis stops
    while (end < at && bytes[end] != 0 && (bytes[end] != '\r' || end + 1 < at)) {
      end++;
    }
    request.clear();
    request.setBytes(InlineWords.split(Arrays.copyOfRange(bytes, frame, end), request), 0);
    expected = request.count();
    place++;
    return true;
  }

  /** Words of a line, which may be in quotes, with escapes. */
  private static final class InlineWords {
    private final byte[] line;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private int at;

    private InlineWords(byte[] line) {
      this.line = line;
    }

    /** Gives a request its arguments; returns the array that they lie in. */
    static byte[] split(byte[] line, RespRequest request) throws ProtocolException {
      InlineWords words = new InlineWords(line);
      while (words.skipSpace()) {
        words.out.write(0); // room for a byte in front
        int start = words.out.size();
        words.word();
        request.add(start, words.out.size() - start);
      }
      return words.out.toByteArray();
    }

    private boolean skipSpace() {
      while (at < line.length && isSpace(line[at])) {
        at++;
      }
      return at < line.length;
    }

    private static boolean isSpace(byte letter) {
      return letter == ' ' || (letter >= '\t' && letter <= '\r');
    }

    private void word() throws ProtocolException {
      while (at < line.length && !isSpace(line[at])) {
        byte letter = line[at++];
        if (letter == '"' || letter == '\'') {
          quoted(letter);
          if (at < line.length && !isSpace(line[at])) {
            throw unbalanced();
          }
          return;
        }
        out.write(letter);
      }
    }

    private void quoted(byte quote) throws ProtocolException {
      while (at < line.length) {
        byte letter = line[at++];
        if (letter == quote) {
          return;
        }
        if (letter == '\\' && at < line.length && (quote == '"' || line[at] == '\'')) {
          out.write(quote == '"' ? escaped() : line[at++]);
        } else {
          out.write(letter);
        }
      }
      throw unbalanced();
    }

    private int escaped() {
      byte letter = line[at++];
      if (letter == 'x' && at + 1 < line.length && hex(at) >= 0 && hex(at + 1) >= 0) {
        int both = (hex(at) << 4) | hex(at + 1);
        at += 2;
        return both;
      }
      return switch (letter) {
        case 'n' -> '\n';
        case 'r' -> '\r';
        case 't' -> '\t';
        case 'b' -> '\b';
        case 'a' -> 7;
        default -> letter;
      };
    }

    private int hex(int i) {
      return Character.digit(line[i], 16);
    }

    private static ProtocolException unbalanced() {
      return new ProtocolException("unbalanced quotes in request");
    }
  }
}
