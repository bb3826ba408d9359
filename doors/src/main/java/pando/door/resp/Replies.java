package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import pando.door.resp.ReplyBlocks.Block;

/**
 * Replies that wait to be sent, in RESP2 or RESP3, in blocks: mostly in one. An event loop has one
 * such, which its connections use in turn.
 */
final class Replies {
  /** Greatest number of bytes of a reply. */
  static final int BYTES_MAX = 32 << 20;

  /** Greatest number of entries of a reply. */
  static final int ENTRIES_MAX = 10_000;

  private static final byte[] LINE_END = "\r\n".getBytes(UTF_8);
  private static final byte[] OK = "+OK\r\n".getBytes(UTF_8);
  private static final byte[] NIL = "$-1\r\n".getBytes(UTF_8);
  private static final byte[] NO_ARRAY = "*-1\r\n".getBytes(UTF_8);
  private static final byte[] NULL = "_\r\n".getBytes(UTF_8);
  private static final String PLAIN_TEXT = "txt:";
  private static final int NUMBER_LINE_BYTES_MAX = 24;

  private final ReplyBlocks blocks;

  /** What is full of the replies, before the block that is written to. */
  private final List<Block> full = new ArrayList<>();

  private Block last;
  private byte[] bytes;
  private int size;
  private int fullBytes;

  // Of the reply that was begun: how many blocks were full, where it is in the next one.
  private int startBlock;
  private int start;

  // The same of its part that was begun: the whole of it, but for the replies of a transaction.
  private int partBlock;
  private int part;
  private boolean isResp3;

  Replies(ReplyBlocks blocks) {
    this.blocks = blocks;
    this.last = blocks.take();
    this.bytes = last.bytes;
  }

  /** Returns the bytes of all replies. */
  int size() {
    return fullBytes + size;
  }

  /** Returns the array that all replies lie in, from its start, if they are one block. */
  byte[] bytes() {
    return bytes;
  }

  /** Returns the number of blocks that all replies lie in. */
  int blocks() {
    return full.size() + 1;
  }

  /** Moves all replies, which are no longer here. */
  void moveTo(Collection<Block> blocksOfOther) {
    last.size = size;
    blocksOfOther.addAll(full);
    blocksOfOther.add(last);
    full.clear();
    use(blocks.take(), 0);
    begin(isResp3);
  }

  /** Returns all replies, which are one block and are no longer here. */
  byte[] take() {
    byte[] taken = Arrays.copyOf(bytes, size);
    clear();
    return taken;
  }

  /** Takes the place of all replies; of no more than are one block. */
  void moveFrom(byte[] others) {
    clear();
    System.arraycopy(others, 0, bytes, 0, others.length);
    size = others.length;
  }

  /** Takes the place of all replies. */
  void moveFrom(List<Block> others) {
    clear();
    blocks.giveBack(last);
    full.addAll(others);
    Block its = full.removeLast();
    use(its, its.size);
  }

  private void use(Block block, int used) {
    last = block;
    bytes = block.bytes;
    size = used;
    fullBytes = 0;
    full.forEach(each -> fullBytes += each.size);
  }

  /** Forgets all replies. */
  void clear() {
    start = 0;
    startBlock = 0;
    cut();
  }

  /** Begins a reply. */
  void begin(boolean inResp3) {
    start = size;
    startBlock = full.size();
    part = start;
    partBlock = startBlock;
    isResp3 = inResp3;
  }

  /**
   * Begins a reply that is an element of the one that was begun. Each may put a head in front, and
   * a block has room for few of these behind where it is full.
   */
  void beginPart() {
    ensure(NUMBER_LINE_BYTES_MAX);
    part = size;
    partBlock = full.size();
  }

  /** Says which protocol the reply that was begun is in. */
  void speak(boolean resp3) {
    isResp3 = resp3;
  }

  /** Forgets the reply that was begun. */
  void cut() {
    part = start;
    partBlock = startBlock;
    cutPart();
  }

  private void cutPart() {
    size = part;
    if (partBlock < full.size()) {
      blocks.giveBack(last);
      while (full.size() > partBlock + 1) {
        blocks.giveBack(full.removeLast());
      }
      use(full.removeLast(), part);
    }
  }

  void ok() {
    raw(OK);
  }

  void nil() {
    raw(isResp3 ? NULL : NIL);
  }

  void noArray() {
    raw(isResp3 ? NULL : NO_ARRAY);
  }

  /** Adds a line that says that something went well. */
  void simple(String line) {
    line('+', line);
  }

  /** Puts an error in the place of the reply, or the part of it, that was begun last. */
  void error(String message) {
    cutPart();
    line('-', message);
  }

  void integer(long number) {
    numberLine(':', number);
  }

  /** Adds the head of an array, whose elements follow. */
  void array(int elements) {
    numberLine('*', elements);
  }

  /** Adds the head of a map, whose keys and values follow in turn. */
  void map(int entries) {
    numberLine(isResp3 ? '%' : '*', isResp3 ? entries : 2 * entries);
  }

  /** Adds the head of a set, whose elements follow. */
  void set(int elements) {
    numberLine(isResp3 ? '~' : '*', elements);
  }

  /** Adds a score. */
  void score(double score) {
    String text = Scores.text(score);
    if (isResp3) {
      line(',', text);
    } else {
      bulk(text);
    }
  }

  /** Adds text that is for people. */
  void text(String text) {
    if (isResp3) {
      byte[] string = (PLAIN_TEXT + text).getBytes(UTF_8);
      string('=', string, 0, string.length);
    } else {
      bulk(text);
    }
  }

  /** Adds a string; characters are encoded as UTF-8. */
  void bulk(String text) {
    bulk(text.getBytes(UTF_8));
  }

  void bulk(byte[] string) {
    bulk(string, 0, string.length);
  }

  void bulk(byte[] array, int from, int length) {
    string('$', array, from, length);
  }

  private void string(char mark, byte[] array, int from, int length) {
    numberLine(mark, length);
    raw(array, from, length);
    raw(LINE_END);
  }

  /** Adds a string without the first bytes of a segment. */
  void bulkBehind(MemorySegment segment, int skipped) {
    bulk(segment, skipped, (int) segment.byteSize() - skipped);
  }

  /** Adds a string that is a part of a segment. */
  void bulk(MemorySegment segment, int from, int length) {
    numberLine('$', length);
    raw(segment, from, length);
    raw(LINE_END);
  }

  /**
   * Checks how many entries a reply is going to have.
   *
   * @throws Refusal if they are too many
   */
  static void checkEntries(long entries) {
    if (entries > ENTRIES_MAX) {
      throw new Refusal("ERR the reply would have too many entries: maximum=" + ENTRIES_MAX);
    }
  }

  /** Puts the head of an array in front of its elements, which are what was begun last. */
  void arrayBefore(int elements) {
    insertBefore("*" + elements + "\r\n");
  }

  /** Puts a short text in front of the reply, or the part of it, that was begun last. */
  void insertBefore(String text) {
    byte[] head = text.getBytes(UTF_8);
    boolean isHere = partBlock == full.size();
    Block first = isHere ? last : full.get(partBlock);
    int end = isHere ? size : first.size;
    System.arraycopy(first.bytes, part, first.bytes, part + head.length, end - part);
    System.arraycopy(head, 0, first.bytes, part, head.length);
    if (isHere) {
      size += head.length;
    } else {
      first.size += head.length;
      fullBytes += head.length;
    }
  }

  private void line(char mark, String text) {
    ensure(1);
    bytes[size++] = (byte) mark;
    raw(text.replace('\r', ' ').replace('\n', ' ').getBytes(UTF_8));
    raw(LINE_END);
  }

  private void numberLine(char mark, long number) {
    ensure(NUMBER_LINE_BYTES_MAX);
    bytes[size++] = (byte) mark;
    size = Ascii.put(bytes, size, number);
    bytes[size++] = '\r';
    bytes[size++] = '\n';
  }

  private void raw(byte[] line) {
    raw(line, 0, line.length);
  }

  private void raw(byte[] array, int from, int length) {
    if (Block.FULL - size >= length) {
      System.arraycopy(array, from, bytes, size, length);
      size += length;
    } else {
      raw(MemorySegment.ofArray(array), from, length);
    }
  }

  private void raw(MemorySegment from, long offset, int length) {
    check(length);
    int done = 0;
    while (done < length) {
      ensure(1);
      int part = Math.min(length - done, Block.FULL - size);
      MemorySegment.copy(from, JAVA_BYTE, offset + done, bytes, size, part);
      size += part;
      done += part;
    }
  }

  private void check(int more) {
    int its = size - start;
    for (int i = startBlock; i < full.size(); i++) {
      its += full.get(i).size;
    }
    if (more > BYTES_MAX - its) {
      throw new HalfWay("ERR the reply is too large: maximum=" + BYTES_MAX + " bytes");
    }
  }

  /** Goes on in the next block, unless there is room in this one. */
  private void ensure(int more) {
    if (Block.FULL - size < more) {
      check(more);
      last.size = size;
      full.add(last);
      use(blocks.take(), 0);
    }
  }
}
