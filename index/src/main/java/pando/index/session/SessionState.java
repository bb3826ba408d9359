package pando.index.session;

import pando.fabric.memory.StackRoom;

/**
 * Whether a session can be used: it is open, none of its scans is under way, and the stack has room
 * for its operations.
 */
public final class SessionState {
  private final StackRoom room;
  private boolean scanning;
  private boolean closed;

  /**
   * Begins open.
   *
   * @param room that an operation needs, and the opening of a session
   * @throws StackOverflowError if the stack has too little room to open a session
   */
  public SessionState(StackRoom room) {
    room.check();
    this.room = room;
  }

  /**
   * Checks that the session can be used. Each operation begins with it.
   *
   * @throws IllegalStateException if it is closed, or one of its scans is under way
   * @throws StackOverflowError if the stack has too little room for an operation
   */
  public void checkUsable() {
    room.check();
    checkNotScanning();
    if (closed) {
      throw new IllegalStateException("the session is closed");
    }
  }

  private void checkNotScanning() {
    if (scanning) {
      throw new IllegalStateException("a session must not be used by the visitor of its own scan");
    }
  }

  /** Notes that a scan begins. */
  public void beginScan() {
    scanning = true;
  }

  /** Notes that a scan has ended. */
  public void endScan() {
    scanning = false;
  }

  /**
   * Notes that the session is closed; returns whether it was open.
   *
   * @throws IllegalStateException if one of its scans is under way
   * @throws StackOverflowError if the stack has too little room to close it; it is still open
   */
  public boolean close() {
    room.check();
    checkNotScanning();
    boolean wasOpen = !closed;
    closed = true;
    return wasOpen;
  }
}
