package pando.fabric.memory;

/** The effective user of this process. */
public final class EffectiveUser {
  private EffectiveUser() {}

  /** Returns the user's number. */
  public static int id() {
    return (int) Linux.GETEUID.call("owner of new files");
  }
}
