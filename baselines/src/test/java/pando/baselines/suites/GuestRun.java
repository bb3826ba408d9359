package pando.baselines.suites;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs the tests that need an RDMA card or a bad network in virtual machines of the test bed, side
 * by side: verbs, indexes over verbs, and the network.
 */
final class GuestRun {
  /** Tags of tests, and parts of the properties that have them run. */
  private static final String VERBS = "verbs";

  private static final String NETWORK = "network";

  /** How much tests do. */
  private static final List<String> AMOUNTS = List.of("pando.campaign", "pando.soak");

  /** For JVMs that live for seconds and are emulated, also those that tests start. */
  private static final String JVM_OPTIONS =
      "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData";

  private final Path testbed;

  private final String classPath;

  private GuestRun(Path testbed, Path furtherTests) {
    this.testbed = testbed;
    this.classPath =
        System.getProperty("java.class.path") + File.pathSeparator + furtherTests.normalize();
  }

  /**
   * Exits with 0 if all tests pass.
   *
   * @param arguments the folder of the test bed, and that of the tests of fabric
   */
  public static void main(String[] arguments) {
    GuestRun run = new GuestRun(Path.of(arguments[0]), Path.of(arguments[1]));
    System.exit(run.all());
  }

  /** Returns the worst status of all machines. */
  private int all() {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<CompletableFuture<Integer>> guests =
          List.of(
              guest(threads, "verbs", tests(VERBS, "package:pando.fabric.verbs")),
              guest(
                  threads, "index", tests(VERBS, "class:pando.baselines.suites.VerbsProcessTest")),
              guest(threads, "network", networkTests()));
      return guests.stream().mapToInt(CompletableFuture::join).max().orElseThrow();
    }
  }

  /** Has a machine run a command; what it prints begins with the machine's name. */
  private CompletableFuture<Integer> guest(Executor threads, String name, List<String> command) {
    List<String> all = new ArrayList<>(command);
    all.addFirst(testbed.resolve("guest").toString());
    ProcessBuilder builder = new ProcessBuilder(all).redirectErrorStream(true);
    builder.environment().put("PANDO_GUEST_NAME", name);
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            Process guest = builder.start();
            guest.inputReader().lines().forEach(line -> System.out.println(name + ": " + line));
            return guest.waitFor();
          } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("not run: machine=" + name, e);
          }
        },
        threads);
  }

  /** Returns the command that runs tests on the third machine of a bad network. */
  private List<String> networkTests() {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(testbed.resolve("network").toString(), "with", "3"));
    command.addAll(
        tests(
            NETWORK,
            "class:pando.fabric.tcp.TcpBadNetworkTest",
            "class:pando.index.TcpBadNetworkIndexTest"));
    return command;
  }

  /**
   * Returns the command that runs tests.
   *
   * @param tag that they have
   * @param selectors as {@link GuestTests} takes them
   */
  private List<String> tests(String tag, String... selectors) {
    List<String> command = new ArrayList<>(List.of("env", JVM_OPTIONS));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-ea", "-Dpando." + tag + "=true"));
    for (String amount : AMOUNTS) {
      command.add("-D" + amount + "=" + Boolean.getBoolean(amount));
    }
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"));
    command.addAll(List.of("-cp", classPath, GuestTests.class.getName(), tag));
    command.addAll(List.of(selectors));
    return command;
  }
}
