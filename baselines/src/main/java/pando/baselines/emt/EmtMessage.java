package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.host.AnsweredCalls;
import pando.index.session.Operation;

/**
 * The messages of CALLs to {@link EmtHandler}. Every field is a word; a name has three.
 *
 * <pre>
 *  get      | operation | tree | key |
 *  answer   | status | value |
 *  floor    | operation | tree | key |                  ceiling, too
 *  answer   | status | edition | key | value |
 *  scan     | operation | tree | from | to | rows |     up or down
 *  answer   | status | count | (key | value) ... |      in the order of the scan
 *  change   | operation | tree | name | key | value |
 *           | expected, if the operation compares |
 *  answer   | status | value | free nodes |
 *  load     | operation | tree | name | room | (key | value) ... |
 *  answer   | status | needed |
 *  give     | operation | tree | name | address ... |
 *  answer   | status |
 *  take     | operation | tree | name | most |
 *  answer   | status | count | address ... |
 *  drop     | operation | tree | name |
 *  answer   | status |
 *
 *  operation  of a session, or one of those here
 *  tree       address of its header
 *  name       of a request that is executed once, as {@link AnsweredCalls} has it
 *  edition    times that a new key became the least of the tree, or the greatest for a ceiling
 *  rows       greatest number of entries that are wanted
 *  room       entries of a node at which it is split
 *  free nodes on the tree's free list
 *  address    of a node that goes onto the free list, or comes from it
 * </pre>
 *
 * <p>With status CORRUPT, the second word of an answer is the address of the damaged node; with
 * NEEDS_NODES, how many free nodes it takes.
 */
final class EmtMessage {
  static final long FLOOR = 16;
  static final long CEILING = 17;
  static final long SCAN = 18;
  static final long SCAN_DOWN = 19;
  static final long LOAD = 20;

  /** Gives a tree free nodes. */
  static final long GIVE = 21;

  /** Takes free nodes from a tree. */
  static final long TAKE = 22;

  /** Makes all nodes of a tree free ones. */
  static final long DROP = 23;

  /** Done, and the key was there before; of a scan, there may be more entries. */
  static final long FOUND = 1;

  /** Done, and the key was not there before; of a scan, there are no more entries here. */
  static final long ABSENT = 2;

  /** Nothing was done: the tree has too few free nodes. */
  static final long NEEDS_NODES = 3;

  /** Nothing was done: a node is damaged. */
  static final long CORRUPT = 4;

  /** Done, where no key is asked for. */
  static final long DONE = 5;

  static final int OPERATION = 0;
  static final int TREE = 8;
  static final int KEY = 16;
  static final int TO = 24;
  static final int ROWS = 32;
  static final int GET_BYTES = 24;
  static final int SCAN_BYTES = 40;

  static final int NAME = 16;
  static final int NAMED_BYTES = NAME + AnsweredCalls.NAME_BYTES;
  static final int CHANGED_KEY = NAMED_BYTES;
  static final int STORED = NAMED_BYTES + 8;
  static final int EXPECTED = NAMED_BYTES + 16;
  static final int CHANGE_BYTES = EXPECTED;
  static final int ROOM = NAMED_BYTES;
  static final int LOADED = NAMED_BYTES + 8;
  static final int MOST = NAMED_BYTES;

  static final int STATUS = 0;

  /** The second word of an answer. */
  static final int DETAIL = 8;

  static final int VALUE = 8;
  static final int GOT_BYTES = 16;
  static final int FREE_NODES = 16;
  static final int CHANGED_BYTES = 24;
  static final int EDITION = 8;
  static final int NEXT_KEY = 16;
  static final int NEXT_VALUE = 24;
  static final int NEXT_BYTES = 32;
  static final int COUNT = 8;
  static final int LIST = 16;

  static final int ENTRY_BYTES = 16;

  /** Greatest number of entries in an answer to a scan. */
  static final int ROWS_MAX = (Worker.CALL_BYTES_MAX - LIST) / ENTRY_BYTES;

  /** Greatest number of entries in a request to load. */
  static final int LOADED_MAX = (Worker.CALL_BYTES_MAX - LOADED) / ENTRY_BYTES;

  /** Greatest number of nodes that are given or taken. */
  static final int NODES_MAX = (Worker.CALL_BYTES_MAX - NAMED_BYTES) / Long.BYTES;

  private EmtMessage() {}

  /** Returns whether a request is executed once, though it may come again. */
  static boolean isNamed(long operation) {
    return operation >= LOAD || (operation > Operation.GET.code && operation < FLOOR);
  }

  static long get(MemorySegment memory, long message, int field) {
    return Words.get(memory, message + field);
  }

  static void set(MemorySegment memory, long message, int field, long value) {
    Words.set(memory, message + field, value);
  }

  /**
   * Checks the operation and the length of a request.
   *
   * @throws IllegalArgumentException if there is no such operation, or its length is another
   */
  static void checkRequest(long operation, int bytes) {
    boolean isOwn = operation >= FLOOR && operation <= DROP;
    boolean fits =
        isOwn ? fits((int) operation, bytes) : bytes == requestBytes(Operation.of(operation));
    if (!fits) {
      throw new IllegalArgumentException(
          "request of the wrong length: operation=" + operation + ", bytes=" + bytes);
    }
  }

  private static boolean fits(int own, int bytes) {
    int extra = bytes - NAMED_BYTES;
    return switch (own) {
      case (int) FLOOR, (int) CEILING -> bytes == GET_BYTES;
      case (int) SCAN, (int) SCAN_DOWN -> bytes == SCAN_BYTES;
      case (int) LOAD -> extra >= Long.BYTES && extra % ENTRY_BYTES == Long.BYTES;
      case (int) GIVE -> extra >= 0 && extra % Long.BYTES == 0;
      case (int) TAKE -> extra == Long.BYTES;
      default -> extra == 0;
    };
  }

  /** Returns the bytes of the request for an operation of a session. */
  static int requestBytes(Operation operation) {
    int change = operation.compares() ? CHANGE_BYTES + Long.BYTES : CHANGE_BYTES;
    return operation == Operation.GET ? GET_BYTES : change;
  }
}
