package pando.index.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import pando.fabric.memory.Fields;

/**
 * What a session puts into the stack of {@link KeyTurns}: its operation, and what has become of it.
 *
 * <p>The session's thread sets the request before the ticket is in the stack. From then on the
 * leader of the turn writes the results, and the {@link #state} orders both.
 */
final class Ticket {
  static final int WAITING = 1;

  /** Its operation was applied, and is not answered yet. */
  static final int APPLIED = 2;

  static final int ANSWERED = 3;

  /** The execution failed, and has changed nothing. */
  static final int FAILED = 4;

  /** The execution failed, and may have changed the entry. */
  static final int UNKNOWN = 5;

  static final int LEADING = 6;

  /** Its session has given up waiting. */
  static final int GONE = 7;

  private static final VarHandle STATE = Fields.handle(MethodHandles.lookup(), "state", int.class);

  final int number;
  final Request request = new Request();

  /** Whether the key was there before the operation, and its value then. */
  boolean found;

  long value;

  /** The ticket that was at the top before. */
  int next;

  /** In a leader's: its turn has the tickets from its top until before its end. */
  int top;

  int end;

  @SuppressWarnings("unused") // Used through STATE.
  private int state = ANSWERED;

  Ticket(int number) {
    this.number = number;
  }

  int state() {
    return (int) STATE.getAcquire(this);
  }

  void setState(int desired) {
    STATE.setRelease(this, desired);
  }

  boolean changeState(int expected, int desired) {
    return STATE.compareAndSet(this, expected, desired);
  }
}
