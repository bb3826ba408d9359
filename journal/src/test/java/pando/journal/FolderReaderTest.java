package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FolderReaderTest {
  private final FaultyDisk disk = new FaultyDisk();

  @Test
  void shouldHaveEntriesAndRecords() throws IOException {
    try (DataFolder folder =
        DataFolder.open(disk, "byte-strings", LogOptions.defaults(), () -> {})) {
      Log log = folder.begin();
      RecordBuilder record = new RecordBuilder();
      append(log, record.put(EntryModel.bytes("b"), EntryModel.bytes("1")));
      append(log, record.put(EntryModel.bytes("a"), EntryModel.bytes("2")));
      append(log, record.put(EntryModel.bytes("c"), EntryModel.bytes("3")));
      append(log, record.remove(EntryModel.bytes("b")));
    }
    List<String> records = new ArrayList<>();
    List<String> entries = new ArrayList<>();
    try (FolderReader reader = FolderReader.open(disk, () -> {})) {
      assertThat(reader.kind()).isEqualTo("byte-strings");
      assertThat(reader.codecs()).isEmpty();
      reader.records((place, kind, key, value) ->
          records.add(
              kind == RecordVisitor.Kind.PUT || kind == RecordVisitor.Kind.REMOVE
                  ? "%s %s %s=%s"
                      .formatted(
                          place - 2 * RecordFormat.PAGE,
                          kind,
                          EntryModel.string(key),
                          EntryModel.string(value))
                  : kind.name()));
      try (EntryStream all = reader.entries()) {
        while (all.next()) {
          entries.add(EntryModel.string(all.key()) + "=" + EntryModel.string(all.value()));
        }
      }
    }
    assertThat(entries).containsExactly("a=2", "c=3");
    assertThat(records)
        .startsWith("0 PUT b=1", "32 PUT a=2", "64 PUT c=3", "96 REMOVE b=")
        .endsWith("CLOSED");
  }

  private static void append(Log log, RecordBuilder record) {
    log.reserve(record.bytes());
    log.append(record);
  }
}
