package pando.fabric.verbs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the tests that need an RDMA card in the virtual machine of the test bed. */
final class GuestRun {
  private static final List<Class<?>> TESTS =
      List.of(
          AbiTest.class,
          QueuePairTest.class,
          CardAbilitiesTest.class,
          VerbsFabricTest.class,
          VerbsLaneFabricTest.class,
          VerbsFaultTest.class,
          VerbsLaneFaultTest.class);

  private GuestRun() {}

  /**
   * Exits as the tests do.
   *
   * @param arguments the script that runs a command in the machine
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(arguments[0]);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-ea", "-Dpando.verbs=true"));
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute"));
    command.addAll(List.of("--disable-banner", "--disable-ansi-colors", "--details=tree"));
    TESTS.forEach(test -> command.add("--select-class=" + test.getName()));
    System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
  }
}
