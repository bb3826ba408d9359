package pando.bench.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Systems;
import pando.sim.fault.Fault;

/** The trials find bugs: planted ones, each in a JVM of its own, as they are fixed at its start. */
@Timeout(180)
class PlantedBugTest {
  private static final int SEEDS_MAX = 200;

  @ParameterizedTest
  @CsvSource({
    "missing-validation, dex",
    "lost-write-back,    dex",
    "early-unlock,       dex",
    "fixed-version,      deft",
    "kept-leaves,        rolex",
  })
  void shouldFind(String bug, String system) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-Dpando.plant=" + bug, "-cp", classPath()));
    command.addAll(List.of(Finder.class.getName(), system));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    System.out.println(bug + ": " + output.lines().findFirst().orElse("nothing"));
    assertThat(process.waitFor()).as(output).isZero();
  }

  private static String classPath() {
    String modules = System.getProperty("jdk.module.path", "");
    return System.getProperty("java.class.path")
        + (modules.isEmpty() ? "" : System.getProperty("path.separator") + modules);
  }

  /** Runs seeds until one fails. */
  static final class Finder {
    private Finder() {}

    /** Ends with 0 where a violation was found. */
    public static void main(String[] arguments) {
      Set<Fault> faults = EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE);
      TrialPlan usual = TrialPlan.of(Systems.named(arguments[0]), faults);
      // DEFT's leaves are larger, and written as a whole less often.
      TrialPlan plan =
          arguments[0].equals("deft")
              ? new TrialPlan(
                  usual.index(),
                  3,
                  3,
                  4,
                  10_000,
                  faults,
                  usual.model(),
                  Map.of("merge-share", "0.5", "merged-share", "1"))
              : usual;
      for (int seed = 1; seed <= SEEDS_MAX; seed++) {
        List<String> violations = Trial.run(plan, seed).violations();
        if (!violations.isEmpty()) {
          System.out.println("seed " + seed + ": " + violations.getFirst().lines().findFirst());
          System.exit(0);
        }
      }
      System.out.println("not found in seeds: " + SEEDS_MAX);
      System.exit(1);
    }
  }
}
