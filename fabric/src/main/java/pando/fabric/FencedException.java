package pando.fabric;

/**
 * This compute server was {@linkplain Fabric#fence fenced}: memory servers refuse its epoch, and
 * nothing that it sends takes effect any more. The verb was not done, nor will any later one be.
 * End the process, and start it again with a greater epoch.
 */
public final class FencedException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public FencedException(String message) {
    super(message);
  }
}
