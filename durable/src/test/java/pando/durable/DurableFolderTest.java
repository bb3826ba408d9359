package pando.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.IndexOptions;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SplitEntries;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.journal.DataFolder;
import pando.journal.FaultyFolder;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;

/** Indexes over the log of a folder, which others open when the first is gone. */
@Timeout(300)
class DurableFolderTest {
  private static final int OPERATIONS = Seeds.count(2_000, 20_000, 200_000);

  @TempDir private Path temporary;

  private static DataFolder folder(Path at, String kind, SyncPolicy sync) {
    LogOptions options =
        LogOptions.defaults().withSync(sync).withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
    return DataFolder.open(at, kind, options);
  }

  private static IndexOptions options(SystemUnderTest system) {
    return system.tiny(1).options();
  }

  /** Returns what an index has that is opened over a folder. */
  private static Map<Object, Object> found(Path at, SystemUnderTest system) {
    try (Fabric fabric = Pools.open(2, 16 << 20, 77);
        DataFolder folder = folder(at, DurableIndex.KIND, SyncPolicy.NO);
        RangeIndex index = DurableIndex.open(folder, options(system), fabric)) {
      return WordContent.of(index);
    }
  }

  /** Copies all files as they are at a moment: what is found after this process was killed. */
  private static Path copy(Path from, Path to) throws IOException {
    String before;
    do {
      before = state(from);
      Files.createDirectories(to);
      for (String name : names(to)) {
        Files.delete(to.resolve(name));
      }
      for (String name : names(from)) {
        try {
          Files.copy(from.resolve(name), to.resolve(name));
        } catch (NoSuchFileException e) {
          // It has become another one, or is not needed any more: all is copied again.
          before = "";
        }
      }
    } while (!before.equals(state(from)));
    return to;
  }

  /** Returns what differs where the files that count are others. */
  private static String state(Path folder) throws IOException {
    return names(folder) + Files.readString(folder.resolve("manifest"));
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
    }
  }

  @Test
  void shouldOpenFolderOfEachSystemWithNext() {
    NavigableMap<Long, Long> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(Seeds.of(74));
    for (SystemUnderTest system : SystemUnderTest.ALL) {
      try (Fabric fabric = Pools.open(2, 16 << 20, 74);
          DataFolder folder = folder(temporary, DurableIndex.KIND, SyncPolicy.EVERYSEC);
          RangeIndex index = DurableIndex.open(folder, options(system), fabric);
          Session session = index.session()) {
        assertThat(WordContent.of(index)).as("system=%s", system).isEqualTo(model);
        new ModelRun(session, model, random, 500).operations(OPERATIONS);
      }
    }
    assertThat(found(temporary, SystemUnderTest.ORCA)).isEqualTo(model);
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindAllAfterKill(SyncPolicy sync) throws Exception {
    int operations = sync == SyncPolicy.ALWAYS ? OPERATIONS / 10 : OPERATIONS;
    SplittableRandom random = new SplittableRandom(Seeds.of(75));
    try (Fabric fabric = Pools.open(2, 16 << 20, 75);
        DataFolder folder = folder(temporary.resolve("a"), DurableIndex.KIND, sync);
        RangeIndex index = DurableIndex.open(folder, options(SystemUnderTest.ORCA), fabric)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (Session session = index.session()) {
            for (int n = 0; n < operations; n++) {
              change(session, own);
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      Path killed = copy(temporary.resolve("a"), temporary.resolve("b"));
      assertThat(found(killed, SystemUnderTest.DEX)).isEqualTo(WordContent.of(index));
    }
  }

  private static void change(Session session, SplittableRandom random) {
    long key = random.nextInt(200);
    switch (random.nextInt(5)) {
      case 0 -> session.remove(key);
      case 1 -> session.discard(key);
      case 2 -> {
        long[] keys = random.longs(random.nextInt(20), 0, 200).toArray();
        session.putAll(keys, 0, keys.length, random.longs(keys.length).toArray());
      }
      case 3 -> session.putIfAbsent(key, random.nextLong());
      default -> session.put(key, random.nextLong());
    }
  }

  @Test
  void shouldKeepWhatWasLoaded() {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(76)), 5_000);
    try (Fabric fabric = Pools.open(2, 16 << 20, 76);
        DataFolder folder = folder(temporary, DurableIndex.KIND, SyncPolicy.ALWAYS);
        RangeIndex index = DurableIndex.open(folder, options(SystemUnderTest.ORCA), fabric);
        Session session = index.session()) {
      session.put(1, 1);
      session.remove(1);
      EntrySource reversed = Entries.of(model.descendingMap());
      assertThatThrownBy(() -> index.bulkLoad(reversed, 0.7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(session.first()).isFalse();
      session.put(1, 1);
      assertThatThrownBy(() -> index.bulkLoad(Entries.of(model), 0.7))
          .isInstanceOf(IllegalStateException.class);
      session.remove(1);
      EntrySource split = SplitEntries.of(model, 3, new SplittableRandom(1));
      assertThat(index.bulkLoad(split, 0.7)).isEqualTo(model.size());
      assertThatThrownBy(() -> index.bulkLoad(Entries.of(model), 0.7))
          .isInstanceOf(IllegalStateException.class);
      session.put(model.firstKey(), 5);
      model.put(model.firstKey(), 5L);
      session.remove(model.lastKey());
      model.pollLastEntry();
    }
    assertThat(found(temporary, SystemUnderTest.DEX)).isEqualTo(model);
  }

  @Test
  void shouldShowNoEntryBeforeLoadIsInTheFolder() throws Exception {
    try (Fabric fabric = Pools.open(2, 16 << 20, 79);
        DataFolder folder = folder(temporary, DurableIndex.KIND, SyncPolicy.NO);
        RangeIndex inner = options(SystemUnderTest.ORCA).create(fabric)) {
      folder.begin();
      List<FutureTask<Boolean>> readers = new ArrayList<>();
      List<DurableIndex> indexes = new ArrayList<>();
      RangeIndex hooked =
          (RangeIndex)
              Proxy.newProxyInstance(
                  RangeIndex.class.getClassLoader(),
                  new Class<?>[] {RangeIndex.class},
                  (_, method, arguments) -> {
                    Object answer = method.invoke(inner, arguments);
                    if (method.getName().equals("bulkLoad")) {
                      readers.add(new FutureTask<>(() -> has(indexes.getFirst(), 10)));
                      DurableWaitsTest.waiting(readers.getFirst());
                    }
                    return answer;
                  });
      indexes.add(DurableIndex.over(hooked, folder));
      indexes.getFirst().bulkLoad(Entries.of(Entries.spaced(100, 10)), 0.7);
      assertThat(readers.getFirst().get()).isTrue();
    }
  }

  @Test
  void shouldShowNothingOfALoadThatFailsAtItsEnd() {
    DataFolder folder = folder(temporary, DurableIndex.KIND, SyncPolicy.NO);
    try (Fabric fabric = Pools.open(2, 16 << 20, 80);
        RangeIndex inner = options(SystemUnderTest.ORCA).create(fabric)) {
      folder.begin();
      RangeIndex failing =
          (RangeIndex)
              Proxy.newProxyInstance(
                  RangeIndex.class.getClassLoader(),
                  new Class<?>[] {RangeIndex.class},
                  (_, method, arguments) -> {
                    Object answer = method.invoke(inner, arguments);
                    if (method.getName().equals("bulkLoad")) {
                      throw new OutOfMemoryError("behind the load");
                    }
                    return answer;
                  });
      DurableIndex index = DurableIndex.over(failing, folder);
      assertThatThrownBy(() -> index.bulkLoad(Entries.of(Entries.spaced(100, 10)), 0.7))
          .hasMessage("behind the load");
      assertThatThrownBy(() -> has(index, 10)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(folder::close).isInstanceOf(LogFailedException.class);
    }
    assertThat(found(temporary, SystemUnderTest.ORCA)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldLoadNothingWhereTheDiskIsFullAtTheEnd(SystemUnderTest system) throws IOException {
    FaultyFolder at = new FaultyFolder();
    LogOptions small = LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
    try (Fabric fabric = Pools.open(2, 16 << 20, 81);
        DataFolder folder = at.open(DurableIndex.KIND, small);
        RangeIndex index = DurableIndex.open(folder, options(system), fabric);
        Session session = index.session()) {
      EntrySource entries = Entries.of(Entries.spaced(100, 10));
      EntrySource filling = new FillingEntries(entries, at);
      assertThatThrownBy(() -> index.bulkLoad(filling, 0.7)).isInstanceOf(LogFullException.class);
      at.heal();
      assertThat(session.first()).isFalse();
      assertThat(folder.log().hasFailed()).isFalse();
      session.put(7, 8);
      assertThat(has(index, 7)).isTrue();
    }
    assertThat(at.entries(DurableIndex.KIND)).hasSize(1);
  }

  static List<SystemUnderTest> systems() {
    return SystemUnderTest.ALL;
  }

  /** Entries at whose end a disk is full. */
  private record FillingEntries(EntrySource entries, FaultyFolder folder) implements EntrySource {
    @Override
    public boolean next() {
      boolean found = entries.next();
      if (!found) {
        folder.fillUp();
      }
      return found;
    }

    @Override
    public long key() {
      return entries.key();
    }

    @Override
    public long value() {
      return entries.value();
    }
  }

  private static boolean has(RangeIndex index, long key) {
    try (Session session = index.session()) {
      return session.get(key);
    }
  }

  @Test
  void shouldRefuseFolderOfOtherKind() {
    folder(temporary, DurableIndex.KIND, SyncPolicy.NO).close();
    assertThatThrownBy(() -> folder(temporary, DurableStrings.KIND, SyncPolicy.NO))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldKeepByteStrings() {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    SplittableRandom random = new SplittableRandom(Seeds.of(78));
    ByteOptions options = ByteOptions.defaults().withBlockBytes(256, 16);
    for (int round = 0; round < 3; round++) {
      try (Fabric fabric = Pools.open(2, 64 << 20, 78);
          DataFolder folder = folder(temporary, DurableStrings.KIND, SyncPolicy.EVERYSEC);
          DurableStrings strings = DurableStrings.open(folder, options, fabric);
          ByteSession session = strings.session()) {
        ByteModelRun.checkAll(session, model);
        for (int i = 0; i < OPERATIONS; i++) {
          boolean shrinks = i / (OPERATIONS / 8) % 2 == 1;
          byte[] key = ByteKeys.draw(random, 12);
          byte[] value = ByteKeys.value(random, 300);
          ByteModelRun.operate(session, model, random, shrinks, key, value);
        }
      }
    }
  }
}
