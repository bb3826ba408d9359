package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Power is lost at each step of the disk. */
class FolderCrashTest {
  private static final int CHANGES = JournalSeeds.count(80, 150, 150);
  private static final int STARTS = 3;
  private static final int DRAWS = 4;

  /** Scripts of each policy: 1,002 in a campaign. */
  private static final int SCRIPTS = Boolean.getBoolean("pando.campaign") ? 334 : 1;

  /** What a crash has left, and what it must not have lost. */
  private record Crash(String step, FaultyDisk left, int safe) {}

  @ParameterizedTest
  @EnumSource
  void shouldLoseNothingThatIsSafe(SyncPolicy policy) throws IOException {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    for (int i = 0; i < SCRIPTS; i++) {
      shouldLoseNothingThatIsSafe(policy, seed + i);
    }
  }

  private static void shouldLoseNothingThatIsSafe(SyncPolicy policy, long seed) throws IOException {
    FolderScript script = new FolderScript(seed, policy);
    List<Crash> crashes = new ArrayList<>();
    FaultyDisk disk = new FaultyDisk();
    SplittableRandom random = new SplittableRandom(seed);
    disk.withHook((_, step) -> {
      int safe = script.safe();
      synchronized (crashes) {
        for (int draw = 0; draw < DRAWS; draw++) {
          crashes.add(new Crash(step, disk.crash(random), safe));
        }
      }
    });
    try {
      for (int start = 0; start < STARTS; start++) {
        script.run(disk, changes(policy));
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

  private static int changes(SyncPolicy policy) {
    // Each change that is forced is a step: the checks grow with the square of the changes.
    return policy == SyncPolicy.ALWAYS ? JournalSeeds.count(40, 150, 150) : CHANGES;
  }

  /** A load counts as a whole, or not at all. */
  @Test
  void shouldHaveWhatWasThereOrWhatWasLoaded() throws IOException {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);
    FaultyDisk disk = new FaultyDisk();
    script.run(disk, CHANGES);
    List<Crash> crashes = new ArrayList<>();
    disk.withHook((_, step) -> {
      synchronized (crashes) {
        for (int draw = 0; draw < DRAWS; draw++) {
          crashes.add(new Crash(step, disk.crash(random), 0));
        }
      }
    });
    Map<String, String> before;
    Map<String, String> after;
    int unfinished;
    try (DataFolder folder = script.open(disk)) {
      before = FolderScript.read(folder);
      folder.begin();
      try (FolderLoad load = folder.load()) {
        load.append(MemorySegment.ofArray(new byte[] {1}), MemorySegment.ofArray(new byte[2]));
      }
      try (FolderLoad load = folder.load()) {
        for (byte i = 0; i < 100; i++) {
          byte[] key = {i};
          load.append(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[i]));
        }
        unfinished = crashes.size();
        load.finish();
      }
    }
    try (DataFolder folder = script.open(disk)) {
      after = FolderScript.read(folder);
      assertThat(after).hasSize(100);
    }
    for (int i = 0; i < crashes.size(); i++) {
      try (DataFolder folder = script.open(crashes.get(i).left())) {
        assertThat(FolderScript.read(folder))
            .as("pando.seed=%s, step=%s", seed, crashes.get(i).step())
            .isIn(i < unfinished ? List.of(before) : List.of(before, after));
      }
    }
  }
}
