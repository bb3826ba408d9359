package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SortedFileTest {
  private static final SortedFileHeader HEADER =
      new SortedFileHeader(EntryModel.FOLDER, 0x1000, 0x2000, false, 1);
  private static final SortedFileHeader BASE =
      new SortedFileHeader(EntryModel.FOLDER, 0, 0x2000, true, 1);

  @Test
  void shouldReadWhatWasWritten() throws IOException {
    SplittableRandom random = new SplittableRandom(JournalSeeds.of(3401));
    for (int i = 0; i < JournalSeeds.count(300, 3_000, 100_000); i++) {
      boolean isBase = random.nextBoolean();
      Map<String, Optional<String>> model = EntryModel.draw(random, 300, !isBase);
      byte[] file = EntryModel.write(model, isBase, 16 + random.nextInt(2_000));
      assertThat(EntryModel.read(file)).isEqualTo(EntryModel.list(model));
      SortedFile.open(new BytesFile(file), "sorted-7").verify();
    }
  }

  @Test
  void shouldTakeTheLargestAndSmallest(@TempDir Path folder) throws IOException {
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    model.put("", Optional.of("of the empty key"));
    model.put("a", Optional.of(""));
    model.put("b", Optional.of("x".repeat(5 << 20)));
    model.put("c", Optional.empty());
    model.put("d", Optional.of("y".repeat(16 << 20)));
    model.put("e".repeat(65_534), Optional.of("below"));
    model.put("e".repeat(65_535), Optional.of("above"));
    model.put("f".repeat(65_535), Optional.of("z".repeat(16 << 20)));
    Disk disk = new FolderDisk(folder);
    try (SortedFileWriter writer = new SortedFileWriter(disk.create("sorted-1"), HEADER)) {
      writer.append(EntryModel.stream(model));
      writer.finish();
    }
    SortedFile file = SortedFile.open(disk.open("sorted-1"), "sorted-1");
    assertThat(EntryModel.read(file.entries())).isEqualTo(EntryModel.list(model));
    SortedFile.open(disk.open("sorted-1"), "sorted-1").verify();
  }

  @Test
  void shouldTakeNoEntriesAndOne() throws IOException {
    assertThat(EntryModel.read(EntryModel.write(Map.of(), true, 100))).isEmpty();
    Map<String, Optional<String>> one = Map.of("", Optional.of(""));
    assertThat(EntryModel.read(EntryModel.write(one, true, 100))).isEqualTo(EntryModel.list(one));
  }

  @Test
  void shouldTellWhatIsInIt() throws Exception {
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    for (int i = 0; i < 10_000; i++) {
      model.put("%06d".formatted(i), i % 10 == 0 ? Optional.empty() : Optional.of("12345678"));
    }
    BytesFile written = new BytesFile();
    SortedFileFooter footer;
    try (SortedFileWriter writer = new SortedFileWriter(written, HEADER)) {
      writer.append(EntryModel.stream(model));
      footer = writer.finish();
    }
    byte[] bytes = written.content();
    assertThat(written.forced()).isEqualTo(bytes.length);
    assertThat(written.isClosed()).isTrue();

    BytesFile read = new BytesFile(bytes);
    SortedFile file = SortedFile.open(read, "sorted-7");
    assertThat(file.header()).isEqualTo(HEADER);
    assertThat(file.footer()).isEqualTo(footer);
    assertThat(footer.entries()).isEqualTo(10_000);
    assertThat(footer.removals()).isEqualTo(1_000);
    assertThat(footer.bytes()).isEqualTo(10_000 * 6 + 9_000 * 8);
    // 10,000 times 12 bytes, and 9,000 times 8: three blocks of 64 KiB hold them.
    assertThat(footer.blocks()).isEqualTo(3);
    byte[] before = Arrays.copyOf(bytes, bytes.length - 88);
    assertThat(footer.sha256())
        .isEqualTo(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(before)));
    file.entries().close();
    assertThat(read.isClosed()).isTrue();
  }

  // The bytes were made by a program of its own, after the drawings.
  @Test
  void shouldKeepItsFormat() throws IOException {
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    model.put("ab", Optional.of("value"));
    model.put("b", Optional.empty());
    model.put("c", Optional.of(""));
    byte[] file = EntryModel.write(model, false, 40);
    HexFormat hex = HexFormat.of();
    assertThat(hex.formatHex(file, 0, 64))
        .isEqualTo(
            "50414e444f534631"
                + "0100000000100000"
                + "5f0c000102030405060708090a0b0c0d"
                + "0010000000000000"
                + "0020000000000000"
                + "0000000000000000"
                + "efcdab8967452301");
    assertThat(hex.formatHex(file, 4_092, 4_096)).isEqualTo("d4775eb6");
    assertThat(hex.formatHex(file, 4_096, file.length - 128))
        .isEqualTo(
            "2400000017db579d0200000000000000"
                + "020005000000616276616c7565"
                + "0100ffffffff62"
                + "1700000046f461c90100000000000000"
                + "01000000000063"
                + "00100000000000000200000002006162"
                + "241000000000000001000000010063"
                + "25a1edca");
    assertThat(hex.formatHex(file, file.length - 128, file.length))
        .isEqualTo(
            "3b100000000000000200000000000000030000000000000001000000000000000900000000000000"
                + "a105b56fbeb8ab43d1f6797a916aca42dabfa3d171ae026d06c042bfa1f49ebe"
                + "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                + "50414e444f454e44ef147371");
  }

  @Test
  void shouldRefuseWhatCannotBeWritten() throws IOException {
    try (SortedFileWriter writer = new SortedFileWriter(new BytesFile(), BASE, 20)) {
      writer.append(EntryModel.bytes("b"), EntryModel.bytes("1"));
      for (String key : new String[] {"b", "a", "", "a\u00ff"}) {
        assertThatThrownBy(() -> writer.append(EntryModel.bytes(key), EntryModel.bytes("")))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("is not above 62");
      }
      assertThatThrownBy(() -> writer.appendRemoved(EntryModel.bytes("c")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no removals");
      String longKey = "c".repeat(65_536);
      assertThatThrownBy(() -> writer.append(EntryModel.bytes(longKey), EntryModel.bytes("")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("65536");
      String longValue = "v".repeat((16 << 20) + 1);
      assertThatThrownBy(() -> writer.append(EntryModel.bytes("c"), EntryModel.bytes(longValue)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("16777217");
      writer.append(EntryModel.bytes("c"), EntryModel.bytes("2"));
      assertThat(writer.finish().entries()).isEqualTo(2);
    }
  }
}
