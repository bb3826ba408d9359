package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class RecordBuilderTest {
  private final RecordBuilder record = new RecordBuilder();

  private static MemorySegment bytes(int count) {
    return MemorySegment.ofArray(new byte[count]);
  }

  /** The log refuses what its sorted files could not have, before a change depends on it. */
  @Test
  void shouldRefuseWhatSortedFilesRefuse() {
    int key = SortedFileFormat.KEY_BYTES_MAX;
    int value = SortedFileFormat.VALUE_BYTES_MAX;
    assertThat(record.put(bytes(key), bytes(value)).bytes())
        .isEqualTo(RecordBuilder.bytesOf(key, value))
        .isLessThan(LogOptions.defaults().recordBytesMax());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> record.put(bytes(key + 1), bytes(0)))
        .withMessageContaining("keyBytes=65536");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> record.put(bytes(0), bytes(value + 1)))
        .withMessageContaining("valueBytes=16777217");
  }

  @Test
  void shouldTakeAsManyBytesAsTheChangesOfAGroup() {
    assertThat(record.group().bytes()).isEqualTo(16);
    assertThat(record.addPut(bytes(5), bytes(3)).bytes()).isEqualTo(16 + 16);
    assertThat(record.addRemove(bytes(9)).bytes()).isEqualTo(16 + 16 + 32);
    assertThat(record.put(bytes(8), bytes(8)).bytes()).isEqualTo(32);
  }

  @Test
  void shouldRefuseInAGroupWhatSortedFilesRefuse() {
    record.group().addPut(bytes(1), bytes(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> record.addPut(bytes(SortedFileFormat.KEY_BYTES_MAX + 1), bytes(0)))
        .withMessageContaining("keyBytes=65536");
  }
}
