package pando.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of this program. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "pando " + number(), "Java " + Runtime.version() + " on " + System.getProperty("os.name")
    };
  }

  private static String number() {
    Module module = Version.class.getModule();
    return module.isNamed() ? module.getDescriptor().rawVersion().orElse("unknown") : "unknown";
  }
}
