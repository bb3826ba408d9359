package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.durable.DurableStrings;
import pando.index.IndexOptions;
import pando.index.MeterReadings;
import pando.index.Systems;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;
import pando.journal.LogOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What maps put into a data folder is there when it is opened again. */
class FolderMapTest {
  private static final String SIZES = "?size=64MiB&cache=8MiB";

  @TempDir private Path temporary;

  private Pando open() {
    return Pando.open("local:" + temporary.resolve("data") + SIZES);
  }

  private Pando open(String system) {
    IndexOptions options = Systems.named(system).defaults();
    return Pando.open("local:" + temporary.resolve("data") + "?size=64MiB", options);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "&sync=always", "&sync=no"})
  void shouldFindWordsAgain(String sync) {
    TreeMap<Long, Long> model = new TreeMap<>();
    long seed = Long.getLong("pando.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    for (int start = 0; start < 3; start++) {
      try (Pando pando = Pando.open("local:" + temporary.resolve("data") + SIZES + sync);
          PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs())) {
        assertThat(map).as("pando.seed=" + seed).isEqualTo(model);
        for (int i = 0; i < 300; i++) {
          long key = random.nextLong(100);
          if (random.nextInt(3) == 0) {
            assertThat(map.remove(key)).isEqualTo(model.remove(key));
          } else {
            assertThat(map.put(key, (long) i)).isEqualTo(model.put(key, (long) i));
          }
        }
        map.putAll(Map.of(200L, 1L, 201L, 2L));
        model.putAll(Map.of(200L, 1L, 201L, 2L));
        assertThat(map.replace(200L, 9L, 3L)).isFalse();
        assertThat(map.compute(200L, (_, value) -> value == null ? 0 : value + 1)).isEqualTo(2);
        model.put(200L, 2L);
        pando.sync();
      }
    }
  }

  @Test
  void shouldFindTextsAndNamedMapsAgain() {
    String longText = "text".repeat(100_000);
    try (Pando pando = open()) {
      PandoMap<String, String> pages = pando.map(KeyCodec.strings(), ValueCodec.strings());
      pages.put("a", "1");
      pages.put("long", longText);
      pando.map("numbers", KeyCodec.longs(), ValueCodec.longs()).put(1L, 2L);
      pando.map("dropped", KeyCodec.longs(), ValueCodec.longs()).put(3L, 4L);
      assertThat(pando.drop("dropped")).isTrue();
    }
    try (Pando pando = open()) {
      assertThat(pando.names()).containsExactly("numbers");
      PandoMap<String, String> pages = pando.map(KeyCodec.strings(), ValueCodec.strings());
      assertThat(pages).containsEntry("a", "1").containsEntry("long", longText).hasSize(2);
      assertThat(pando.map("numbers", KeyCodec.longs(), ValueCodec.longs())).containsEntry(1L, 2L);
      assertThatThrownBy(() -> pando.map("numbers", KeyCodec.longs(), ValueCodec.strings()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("other codecs");
    }
  }

  @Test
  void shouldOpenWhatAnotherSystemHasWritten() {
    for (String system : new String[] {"dex", "orca", "sherman", "fg", "dex"}) {
      try (Pando pando = open(system)) {
        PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs());
        map.merge(1L, 1L, Long::sum);
        map.put((long) system.hashCode(), 0L);
      }
    }
    try (Pando pando = open("deft")) {
      assertThat(pando.map(KeyCodec.longs(), ValueCodec.longs())).containsEntry(1L, 5L).hasSize(5);
    }
  }

  @Test
  void shouldGiveAFolderNoKindThatItsSystemHasNot() {
    try (Pando pando = open("dex")) {
      assertThatThrownBy(() -> pando.map(KeyCodec.strings(), ValueCodec.longs()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("made with orca alone: system=dex");
      assertThat(pando.map(KeyCodec.longs(), ValueCodec.longs())).isEmpty();
    }
  }

  @Test
  void shouldRefuseWhatTheFolderIsNotOf() {
    try (Pando pando = open()) {
      pando.map(KeyCodec.longs(), ValueCodec.longs()).put(1L, 2L);
      assertThatThrownBy(this::open)
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("in use")
          .hasMessageContaining(String.valueOf(ProcessHandle.current().pid()));
    }
    try (Pando pando = open()) {
      assertThatThrownBy(() -> pando.map(KeyCodec.longs(), ValueCodec.strings()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("codecs");
      assertThatThrownBy(pando::names)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("index of words");
      assertThat(pando.map(KeyCodec.longs(), ValueCodec.longs())).containsEntry(1L, 2L);
    }
    assertThatThrownBy(() -> Pando.open("local:?sync=always"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sync");
    assertThatThrownBy(() -> Pando.open("local:x?sync=often"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("everysec");
  }

  @Test
  void shouldCopyAllOfOneMoment() {
    Path copy = temporary.resolve("copy");
    try (Pando pando = open()) {
      PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs());
      for (long i = 0; i < 1_000; i++) {
        map.put(i, i);
      }
      pando.backup(copy);
      map.put(2_000L, 1L);
      assertThatThrownBy(() -> pando.backup(copy)).isInstanceOf(IllegalArgumentException.class);
    }
    try (Pando pando = Pando.open("local:" + copy + SIZES)) {
      assertThat(pando.map(KeyCodec.longs(), ValueCodec.longs())).hasSize(1_000);
    }
  }

  @Test
  void shouldSaySoWhereNothingIsKept() {
    try (Pando pando = Pando.open("local:" + SIZES)) {
      assertThatThrownBy(pando::sync)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("data folder");
    }
  }

  /** A thread that waited for the disk would force it once for each. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldShareWritesOfTheDisk(boolean words) {
    int count = 10_000;
    try (Pando pando = Pando.open("local:" + temporary.resolve("data") + SIZES + "&sync=always")) {
      PandoMap<Long, Long> map =
          words
              ? pando.map(KeyCodec.longs(), ValueCodec.longs())
              : pando.map("named", KeyCodec.longs(), ValueCodec.longs());
      AsyncMap<Long, Long> async = map.async();
      List<CompletableFuture<?>> answers = new ArrayList<>();
      for (long i = 0; i < count; i++) {
        answers.add(async.put(i, -i));
      }
      answers.forEach(CompletableFuture::join);
      Map<String, Double> meters = MeterReadings.of(map);
      assertThat(meters.get("pando.log.records")).isGreaterThanOrEqualTo(count);
      assertThat(meters.get("pando.log.syncs")).isBetween(1.0, count / 4.0);
      assertThat(async.get(17L).join()).isEqualTo(-17);
    }
  }

  @Test
  void shouldLeaveAFolderOfADoorAlone() {
    try (DataFolder folder =
        DataFolder.open(temporary.resolve("data"), DurableStrings.KIND, LogOptions.defaults())) {
      folder.setCodecs(DurableStrings.CODECS_OF_DOOR);
    }
    try (Pando pando = open()) {
      assertThatThrownBy(() -> pando.map(KeyCodec.strings(), ValueCodec.strings()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("pando serve");
      assertThatThrownBy(() -> pando.map("named", KeyCodec.strings(), ValueCodec.strings()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("pando serve");
    }
  }
}
