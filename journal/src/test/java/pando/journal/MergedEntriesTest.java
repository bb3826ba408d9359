package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MergedEntriesTest {
  private final SplittableRandom random = new SplittableRandom(JournalSeeds.of(3403));

  @Test
  void shouldHaveTheNewestOfEachKey() throws IOException {
    for (int i = 0; i < JournalSeeds.count(2_000, 20_000, 1_000_000); i++) {
      boolean withRemovals = random.nextBoolean();
      TreeMap<String, Optional<String>> expected = new TreeMap<>();
      List<EntryStream> sources = new ArrayList<>();
      for (int source = random.nextInt(6); source > 0; source--) {
        Map<String, Optional<String>> model =
            EntryModel.draw(random, random.nextInt(4) == 0 ? 200 : 20, true);
        expected.putAll(model);
        sources.add(asSource(model));
      }
      if (!withRemovals) {
        expected.values().removeIf(Optional::isEmpty);
      }
      assertThat(EntryModel.read(new MergedEntries(sources, withRemovals)))
          .as("merge %d", i)
          .isEqualTo(EntryModel.list(expected));
    }
  }

  /** Returns a stream of entries of some kind: merges do not tell them apart. */
  private EntryStream asSource(Map<String, Optional<String>> model) throws IOException {
    return switch (random.nextInt(3)) {
      case 0 -> EntryModel.stream(model);
      case 1 -> {
        byte[] file = EntryModel.write(model, false, 100);
        yield SortedFile.open(new BytesFile(file), "sorted-7").entries();
      }
      default -> new MergedEntries(List.of(EntryModel.stream(model)), true);
    };
  }

  @Test
  void shouldEndForGood() throws IOException {
    try (MergedEntries none = new MergedEntries(List.of(), true)) {
      assertThat(none.next()).isFalse();
      assertThat(none.next()).isFalse();
    }
    EntryStream one = EntryModel.stream(Map.of("a", Optional.of("1")));
    EntryStream gone = EntryModel.stream(Map.of("a", Optional.empty()));
    try (MergedEntries removed = new MergedEntries(List.of(one, gone), false)) {
      assertThat(removed.next()).isFalse();
      assertThat(removed.next()).isFalse();
    }
  }

  @Test
  void shouldTellOfADamagedSource() throws IOException {
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    for (int i = 0; i < 100; i++) {
      model.put("key%03d".formatted(i), Optional.of("value"));
    }
    byte[] file = EntryModel.write(model, true, 200);
    file[4_096 + 700] ^= 1;
    EntryStream damaged = SortedFile.open(new BytesFile(file), "sorted-7").entries();
    EntryStream newer = EntryModel.stream(Map.of("key050", Optional.empty()));
    assertThatThrownBy(() -> EntryModel.read(new MergedEntries(List.of(damaged, newer), false)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("the block at");
  }

  @Test
  void shouldCloseAllSources() {
    List<ClosingEntries> sources =
        List.of(new ClosingEntries(true), new ClosingEntries(false), new ClosingEntries(true));
    assertThatThrownBy(new MergedEntries(sources, true)::close)
        .isInstanceOf(IllegalStateException.class)
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(sources).allMatch(source -> source.isClosed);
  }

  /** Has no entries, and may fail when it is closed. */
  private static final class ClosingEntries implements EntryStream {
    private final boolean fails;
    private boolean isClosed;

    ClosingEntries(boolean fails) {
      this.fails = fails;
    }

    @Override
    public boolean next() {
      return false;
    }

    @Override
    public MemorySegment key() {
      throw new IllegalStateException("there is no entry");
    }

    @Override
    public boolean isRemoved() {
      throw new IllegalStateException("there is no entry");
    }

    @Override
    public MemorySegment value() {
      throw new IllegalStateException("there is no entry");
    }

    @Override
    public void close() {
      isClosed = true;
      if (fails) {
        throw new IllegalStateException("it cannot be closed");
      }
    }
  }
}
