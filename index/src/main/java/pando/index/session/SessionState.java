package pando.index.session;

/** Whether a session can be used: it is open, and none of its scans is under way. */
public final class SessionState {
  private boolean scanning;
  private boolean closed;

  /** Begins open. */
  public SessionState() {}

  /**
   * Checks that the session can be used.
   *
   * @throws IllegalStateException if it is closed, or one of its scans is under way
   */
  public void checkUsable() {
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
   */
  public boolean close() {
    checkNotScanning();
    boolean wasOpen = !closed;
    closed = true;
    return wasOpen;
  }
}
