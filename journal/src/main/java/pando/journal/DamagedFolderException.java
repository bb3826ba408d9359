package pando.journal;

import java.util.OptionalLong;
import pando.fabric.PandoException;

/**
 * A file of a data folder is not as it was written. Nothing is opened and nothing is changed. The
 * message names the file and the place: copy the folder, look at the disk, and restore a backup, or
 * run {@code pando data repair}, which prints what it cuts off, and keeps it.
 */
public final class DamagedFolderException extends PandoException {
  private static final long serialVersionUID = 1L;

  private static final long NOWHERE = -1;

  private final long cutAt;
  private final boolean isOfOtherPando;

  /** Creates the exception with what is wrong and every value that matters. */
  public DamagedFolderException(String message) {
    this(message, NOWHERE);
  }

  /**
   * Creates the exception of a log that is whole up to a place.
   *
   * @param cutAt where {@code pando data repair} can cut it; the message has it, too
   */
  DamagedFolderException(String message, long cutAt) {
    this(
        cutAt == NOWHERE ? message : message + ", cut-at=" + Long.toHexString(cutAt), cutAt, false);
  }

  private DamagedFolderException(String message, long cutAt, boolean isOfOtherPando) {
    super(message);
    this.cutAt = cutAt;
    this.isOfOtherPando = isOfOtherPando;
  }

  /** Returns the exception of a file that only another version of Pando reads. */
  static DamagedFolderException ofOtherPando(String message) {
    return new DamagedFolderException(message + "; use that version", NOWHERE, true);
  }

  /** Returns whether another version of Pando wrote the file: then it is not damaged. */
  public boolean isOfOtherPando() {
    return isOfOtherPando;
  }

  /** Returns the place in the log where {@code pando data repair} can cut it, if it can. */
  public OptionalLong cutAt() {
    return cutAt == NOWHERE ? OptionalLong.empty() : OptionalLong.of(cutAt);
  }
}
