package pando.bench;

import org.jspecify.annotations.Nullable;
import pando.bench.figure.FigureResult;
import picocli.CommandLine.IVersionProvider;

/** The version of this program. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "pando " + number(), "Java " + Runtime.version() + " on " + System.getProperty("os.name")
    };
  }

  /**
   * Returns the commit of the code, which the launcher gives by {@code -Dpando.commit=}; {@code
   * null} if it does not.
   */
  static @Nullable String commit() {
    String commit = System.getProperty("pando.commit");
    return commit != null && FigureResult.isCommit(commit) ? commit : null;
  }

  private static String number() {
    Module module = Version.class.getModule();
    return module.isNamed() ? module.getDescriptor().rawVersion().orElse("unknown") : "unknown";
  }
}
