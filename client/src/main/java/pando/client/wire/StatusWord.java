package pando.client.wire;

/** The words of a compute server's status, by their places. */
public final class StatusWord {
  /** Connections of clients now. */
  public static final int CONNECTIONS = 0;

  /** Operations and pages that were answered, since the start. */
  public static final int ANSWERED = 1;

  /** Those among them that failed, were for others, or of unknown outcome. */
  public static final int FAILED = 2;

  /** 1 if it serves byte strings, 0 if words. */
  public static final int STRINGS = 3;

  /** Greatest length of a key. */
  public static final int KEY_BYTES_MAX = 4;

  /** Greatest length of a value. */
  public static final int VALUE_BYTES_MAX = 5;

  /** How many words there are. */
  public static final int COUNT = 6;

  private StatusWord() {}
}
