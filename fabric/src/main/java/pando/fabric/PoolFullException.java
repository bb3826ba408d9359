package pando.fabric;

/**
 * The memory pool has no room for another node. The operation had no effect, and all entries stay
 * readable. The message says what to do: remove entries, and try again; or use a pool with more
 * memory, or one whose machines have more.
 */
public final class PoolFullException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public PoolFullException(String message) {
    super(message);
  }
}
