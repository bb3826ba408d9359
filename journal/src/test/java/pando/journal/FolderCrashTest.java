package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Power is lost at each step of the disk. */
class FolderCrashTest {
  private static final int CHANGES = 150;
  private static final int STARTS = 3;
  private static final int DRAWS = 4;

  /** What a crash has left, and what it must not have lost. */
  private record Crash(String step, FaultyDisk left, int safe) {}

  @ParameterizedTest
  @EnumSource
  void shouldLoseNothingThatIsSafe(SyncPolicy policy) throws IOException {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    FolderScript script = new FolderScript(seed, policy);
    List<Crash> crashes = new ArrayList<>();
    FaultyDisk disk = new FaultyDisk();
    SplittableRandom random = new SplittableRandom(seed);
    disk.withHook(
        (_, step) -> {
          int safe = script.safe();
          synchronized (crashes) {
            for (int draw = 0; draw < DRAWS; draw++) {
              crashes.add(new Crash(step, disk.crash(random), safe));
            }
          }
        });
    try {
      for (int start = 0; start < STARTS; start++) {
        script.run(disk, CHANGES);
        for (Crash crash : crashes) {
          try {
            script.check(crash.left(), crash.safe());
          } catch (Throwable e) {
            throw new AssertionError("crash at " + crash.step(), e);
          }
        }
        assertThat(crashes).hasSizeGreaterThan(10 * DRAWS);
        crashes.clear();
      }
    } catch (Throwable e) {
      throw new AssertionError("pando.seed=" + seed, e);
    }
  }
}
