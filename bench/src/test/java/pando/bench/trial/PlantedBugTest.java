package pando.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.fault.Fault;

/** The trials find bugs: planted ones, each in a JVM of its own, as they are fixed at its start. */
@Timeout(180)
class PlantedBugTest {
  private static final int SEEDS_MAX = 200;

  /** Bugs of ranges that move, as they do in the usual plan. */
  private static final Set<String> MOVES =
      Set.of(
          "orca-given-uncleaned",
          "orca-given-unmerged",
          "orca-records-kept",
          "move-owner-unchecked");

  @ParameterizedTest
  @CsvSource({
    "lost-write-back,           dex, 2",
    "orca-merges-ignored,       orca, 2",
    "orca-given-unmerged,       orca, 1",
    "bytes-record-kept,         bytes, 1",
    "fence-answered-early,      dex, 1",
    "cluster-sent-twice,        orca, 4",
    "cluster-log-head-early,    orca, 1",
    "cluster-log-served-early,  byte-strings, 5",
    "cluster-dex-sibling-last,  dex, 190",
    "cluster-folder-uncopied,   orca, 3",
  })
  void shouldFind(String bug, String system, int from) throws IOException, InterruptedException {
    find(bug, system, from);
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({
    "missing-validation,        dex, 2",
    "early-unlock,              dex, 2",
    "fixed-version,             deft, 83",
    "drain-gate-not-awaited,    deft, 3",
    "kept-leaves,               rolex, 1",
    "smart-image-written,       smart, 2",
    "smart-absent-from-copy,    smart, 1",
    "smart-byte-moved,          smart, 10",
    "smart-unfrozen,            smart, 7",
    "smart-born-live,           smart, 5",
    "smart-place-at-once,       smart, 1",
    "turn-old-result,           smart, 78",
    "burial-unlocked-alone,     rolex, 41",
    "emt-runs-twice,            emt-d, 3",
    "orca-pin-skipped,          orca, 1",
    "orca-pinned-while-merging, orca, 1",
    "orca-slot-kept,            orca, 1",
    "orca-slot-old,             orca, 1",
    "orca-generation-repeated,  orca, 25",
    "orca-dirty-forgotten,      orca, 1",
    "orca-clean-whatever,       orca, 1",
    "orca-version-kept,         orca, 57",
    "orca-counted-down-early,   orca, 72",
    "orca-cleaning-dirtied,     orca, 1",
    "orca-newer-uncounted,      orca, 1",
    "orca-newer-dropped,        orca, 3",
    "orca-unclaimed,            orca, 1",
    "orca-scan-of-leaf,         orca, 1",
    "orca-scan-without-version, orca, 1",
    "orca-given-back-early,     orca, 1",
    "orca-published-unflagged,  orca, 1",
    "orca-view-mixed,           orca, 1",
    "orca-image-kept,           orca, 1",
    "orca-image-unpatched,      orca, 2",
    "orca-filter-short,         orca, 1",
    "orca-given-uncleaned,      orca, 1",
    "orca-records-kept,         orca, 1",
    "move-owner-unchecked,      orca, 1",
    "move-owner-unchecked,      p-sherman, 1",
    "move-ungated,              p-sherman, 3",
    "bytes-record-old,          bytes, 26",
    "bytes-sum-ignored,         bytes, 2",
    "cluster-lease-unchecked,   orca, 4",
    "cluster-strings-waiting-left, byte-strings, 1",
    "cluster-lease-not-awaited, orca, 2",
    "cluster-fence-skipped,     orca, 9",
    "cluster-not-adopted,       orca, 1",
    "cluster-rejoined-unlooked, p-sherman, 11",
    "cluster-cut-done,          orca, 1",
    "cluster-routes-kept,       orca, 1",
    "cluster-failure-repeated,  orca, 3",
    "cluster-sweep-forgets,     orca, 2",
    "cluster-strings-fences-ignored, byte-strings, 1",
    "cluster-strings-kept,      byte-strings, 1",
    "cluster-log-dropped-early, orca, 19",
    "cluster-log-given-unwritten, orca, 113",
    "cluster-log-one-holder,    orca, 125",
    "cluster-dex-node-first,    dex, 3",
    "cluster-dex-locks-kept,    dex, 15",
    "cluster-dex-kept-wide,     dex, 1",
    "cluster-folder-unfiled,    orca, 1",
  })
  void shouldFindTheOthers(String bug, String system, int from)
      throws IOException, InterruptedException {
    find(bug, system, from);
  }

  private static void find(String bug, String system, int from)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-Dpando.plant=" + bug, "-cp", classPath()));
    command.addAll(List.of(Finder.class.getName(), system, Integer.toString(from)));
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

  /** Runs seeds until one fails, from the first that may: those before it take long. */
  static final class Finder {
    private Finder() {}

    /** Ends with 0 where a violation was found. */
    public static void main(String[] arguments) {
      Set<Fault> faults = EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE);
      String bug = System.getProperty("pando.plant", "");
      if (bug.startsWith("fence")) {
        faults.add(Fault.FENCE);
      }
      if (bug.startsWith("drain")) {
        faults.add(Fault.RECONNECT);
      }
      if (bug.startsWith("emt")) {
        faults.add(Fault.LOST_COMPLETION);
      }
      if (bug.startsWith("burial")) {
        faults.add(Fault.CRASH_COMPUTE);
      }
      String system = arguments[0];
      int from = Integer.parseInt(arguments[1]);
      for (int seed = from; seed < from + SEEDS_MAX; seed++) {
        List<String> violations =
            isOfClusters()
                ? ClusterTrial.run(planOfCluster(system), seed).violations()
                : system.equals("bytes")
                    ? ByteTrialTest.violations(seed, faults)
                    : Trial.run(plan(Systems.named(system), faults), seed).violations();
        violations = new ArrayList<>(violations);
        violations.removeIf(violation -> violation.contains("could not be checked"));
        if (!violations.isEmpty()) {
          System.out.println("seed " + seed + ": " + violations.getFirst().lines().findFirst());
          System.exit(0);
        }
      }
      System.out.println("not found in seeds: " + SEEDS_MAX);
      System.exit(1);
    }

    private static TrialPlan planOfCluster(String system) {
      boolean strings = system.equals(ByteOptions.SYSTEM);
      TrialPlan plan =
          TrialPlan.of(strings ? OrcaOptions.ORCA : Systems.named(system), ofClusters());
      return strings ? plan.withStrings() : plan;
    }

    private static boolean isOfClusters() {
      return System.getProperty("pando.plant", "").startsWith("cluster");
    }

    /** A cluster where a memory server is lost does little afterwards. */
    private static Set<Fault> ofClusters() {
      return switch (System.getProperty("pando.plant", "")) {
        case "cluster-failure-repeated" -> EnumSet.of(Fault.LOSE_MEMORY, Fault.SESSION_LOST);
        // Where sessions are lost, operations may fail.
        case "cluster-routes-kept" -> EnumSet.of(Fault.STALE_ROUTE);
        case "cluster-strings-waiting-left", "cluster-strings-kept" -> EnumSet.of(Fault.PAUSE);
        case "cluster-dex-sibling-last",
            "cluster-dex-node-first",
            "cluster-dex-locks-kept",
            "cluster-dex-kept-wide" ->
            EnumSet.of(Fault.TORN, Fault.DELAY, Fault.CRASH_COMPUTE);
        case "cluster-folder-unfiled", "cluster-folder-uncopied" ->
            EnumSet.of(Fault.TORN, Fault.DELAY, Fault.LOSE_MEMORY, Fault.RESTART_ALL);
        default -> {
          Set<Fault> faults = EnumSet.copyOf(ClusterTrial.FAULTS);
          faults.removeAll(Set.of(Fault.LOSE_MEMORY, Fault.RESTART_ALL, Fault.FULL_POOL));
          yield faults;
        }
      };
    }

    private static TrialPlan plan(IndexSystem system, Set<Fault> faults) {
      TrialPlan usual = TrialPlan.of(system, faults);
      return switch (system.name()) {
        // Its leaves are larger, and written as a whole less often.
        case "deft" ->
            new TrialPlan(
                system,
                3,
                3,
                4,
                10_000,
                usual.keys(),
                usual.network(),
                faults,
                usual.model(),
                Map.of("merge-share", "0.5", "merged-share", "1"),
                false);
        case "orca" -> ofOrca(System.getProperty("pando.plant", ""), usual);
        default -> usual;
      };
    }

    /**
     * ORCA's bugs need several sessions at one key, while it is cleaned or its leaf merges. Those
     * of images and filters need room for them; others need records that are evicted. A record that
     * is cleaned twice at a time needs leaves that are seldom merged, as merges clean, too.
     */
    private static TrialPlan ofOrca(String bug, TrialPlan usual) {
      if (MOVES.contains(bug)) {
        return usual;
      }
      if (bug.startsWith("orca-image") || bug.startsWith("orca-filter")) {
        return ofOrca(16, 4_000, 200, usual, Map.of());
      }
      Map<String, String> settings = new HashMap<>();
      settings.put("cache-bytes", "11264");
      settings.put("cache", "records");
      if (!bug.equals("orca-cleaning-dirtied")) {
        return ofOrca(16, 4_000, 200, usual, settings);
      }
      settings.put("twin", "off");
      settings.put("neighbours", "off");
      settings.put("delta-changes", "255");
      return ofOrca(32, 8_000, 400, usual, settings);
    }

    private static TrialPlan ofOrca(
        int clients, int operations, int keys, TrialPlan usual, Map<String, String> settings) {
      return new TrialPlan(
          usual.index(),
          1,
          2,
          clients,
          operations,
          keys,
          usual.network(),
          usual.faults(),
          usual.model(),
          settings,
          false);
    }
  }
}
