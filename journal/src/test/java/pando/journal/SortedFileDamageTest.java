package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static pando.journal.FileBytes.INT;
import static pando.journal.FileBytes.LONG;
import static pando.journal.SortedFileFooter.FOOTER_BYTES;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A file that is not as it was written is refused by name, and never answers something else. */
class SortedFileDamageTest {
  private static final int HEADER_SUM = 4_092;
  private static final int FIRST_BLOCK = 4_096;
  private static final int FOOTER_SUM = 124;
  private static final int GAP = 32;

  private final TreeMap<String, Optional<String>> model = new TreeMap<>();
  private final SplittableRandom random = new SplittableRandom(JournalSeeds.of(3402));

  SortedFileDamageTest() {
    for (int i = 0; i < 100; i++) {
      model.put(
          "key%03d".formatted(i),
          i % 7 == 0 ? Optional.empty() : Optional.of("v".repeat(i % 5) + i));
    }
  }

  private byte[] write(int blockBytes) throws IOException {
    return EntryModel.write(model, false, blockBytes);
  }

  private static void assertRefused(byte[] file, String what) {
    assertThatThrownBy(() -> EntryModel.read(file))
        .as(what)
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageStartingWith("sorted-7");
  }

  @Test
  void shouldFindEveryChangedByte() throws IOException {
    byte[] file = write(200);
    for (int at = 0; at < file.length; at++) {
      byte[] changed = file.clone();
      changed[at] ^= (byte) (1 + random.nextInt(255));
      assertRefused(changed, "byte " + at);
    }
  }

  @Test
  void shouldFindEveryCut() throws IOException {
    byte[] file = write(200);
    for (int length = 0; length < file.length; length++) {
      assertRefused(Arrays.copyOf(file, length), "cut to " + length);
    }
    assertRefused(Arrays.copyOf(file, file.length + 1), "one byte more");
    assertRefused(Arrays.copyOf(file, file.length + 4_096), "a page more");
  }

  @Test
  void shouldFindPiecesThatAreMovedOrLost() throws IOException {
    byte[] file = write(200);
    for (int i = 0; i < JournalSeeds.count(20_000, 1_000_000, 10_000_000); i++) {
      byte[] changed = mutate(file);
      // Without unused bytes no other file is right.
      if (!Arrays.equals(changed, file)) {
        assertRefused(changed, "mutation " + i);
      }
    }
  }

  /** Returns a copy with one piece changed, as disks and copies change them. */
  private byte[] mutate(byte[] file) {
    byte[] changed = file.clone();
    int from = random.nextInt(file.length);
    int bytes = Math.min(1 + random.nextInt(random.nextBoolean() ? 8 : 600), file.length - from);
    int to = random.nextInt(file.length - bytes + 1);
    switch (random.nextInt(5)) {
      case 0 -> System.arraycopy(file, from, changed, to, bytes);
      case 1 -> Arrays.fill(changed, from, from + bytes, (byte) (random.nextBoolean() ? 0 : -1));
      case 2 -> {
        System.arraycopy(file, from + bytes, changed, from, file.length - from - bytes);
        changed = Arrays.copyOf(changed, file.length - bytes);
      }
      case 3 -> {
        changed = Arrays.copyOf(changed, file.length + bytes);
        System.arraycopy(file, from, changed, from + bytes, file.length - from);
      }
      default -> {
        for (int i = 0; i < bytes; i++) {
          changed[from + i] = (byte) random.nextInt();
        }
      }
    }
    return changed;
  }

  /**
   * Even where all sums are right nothing else is trusted: a file that is read to its end is, byte
   * by byte, what is written of the answer.
   */
  @Test
  void shouldTakeOnlyWhatIsWrittenOfTheAnswer() throws IOException {
    byte[] file = write(200);
    int read = 0;
    int mutations = JournalSeeds.count(20_000, 500_000, 5_000_000);
    for (int i = 0; i < mutations; i++) {
      byte[] changed = file.clone();
      for (int j = random.nextInt(3); j >= 0; j--) {
        changed[drawPlace(file)] = (byte) drawByte();
      }
      BytesFile hostile = new BytesFile(withRightSums(changed, file));
      try (SortedFile sorted = SortedFile.open(hostile, "sorted-7");
          EntryStream entries = sorted.entries()) {
        BytesFile again = new BytesFile();
        try (SortedFileWriter writer = new SortedFileWriter(again, sorted.header(), 200)) {
          writer.append(entries);
          writer.finish();
        }
        assertThat(again.content()).as("mutation %d", i).isEqualTo(hostile.content());
        read++;
      } catch (DamagedFolderException e) {
        assertThat(e).hasMessageStartingWith("sorted-7");
      }
      assertThat(hostile.most()).isLessThanOrEqualTo(file.length);
    }
    assertThat(read).isBetween(mutations / 100, mutations - mutations / 100);
  }

  /** Draws a place, often of header, index or footer. */
  private int drawPlace(byte[] file) {
    return switch (random.nextInt(6)) {
      case 0 -> random.nextInt(64);
      case 1 -> file.length - 1 - random.nextInt(128);
      case 2 -> file.length - 1 - random.nextInt(1_200);
      default -> FIRST_BLOCK - 60 + random.nextInt(file.length - FIRST_BLOCK + 60);
    };
  }

  /** Draws a byte, often 0, 1, 255, or that of a small number. */
  private int drawByte() {
    return switch (random.nextInt(3)) {
      case 0 -> random.nextInt(256);
      case 1 -> random.nextInt(3) - 1;
      default -> random.nextInt(32);
    };
  }

  private static int indexAt(byte[] file) {
    return (int) MemorySegment.ofArray(file).get(LONG, file.length - FOOTER_BYTES);
  }

  /**
   * Mends all sums of a file, and its SHA-256.
   *
   * @param original has the same blocks
   */
  private static byte[] withRightSums(byte[] changed, byte[] original) {
    MemorySegment memory = MemorySegment.ofArray(changed);
    MemorySegment old = MemorySegment.ofArray(original);
    int headerSum = FileBytes.sum(memory, 0, HEADER_SUM);
    memory.set(INT, HEADER_SUM, headerSum);
    int footerAt = changed.length - FOOTER_BYTES;
    int indexAt = indexAt(original);
    for (int at = FIRST_BLOCK; at < indexAt; at += old.get(INT, at)) {
      int sum = SortedFileFormat.blockSum(headerSum, at, memory.asSlice(at), old.get(INT, at));
      memory.set(INT, at + SortedFileFormat.SUM, sum);
    }
    int indexEnd = footerAt - SortedFileFormat.INDEX_SUM_BYTES;
    memory.set(INT, indexEnd, FileBytes.sum(memory, indexAt, indexEnd - indexAt));
    int digestAt = footerAt + SortedFileFooter.SHA_AT;
    MessageDigest digest = SortedFileFormat.sha256();
    digest.update(changed, 0, digestAt);
    byte[] sha256 = digest.digest();
    System.arraycopy(sha256, 0, changed, digestAt, sha256.length);
    mendFooter(changed);
    return changed;
  }

  private static void mendFooter(byte[] file) {
    MemorySegment footer = MemorySegment.ofArray(file).asSlice(file.length - FOOTER_BYTES);
    footer.set(INT, FOOTER_SUM, FileBytes.sum(footer, 0, FOOTER_SUM));
  }

  @Test
  void shouldNameAnotherVersion() throws IOException {
    byte[] file = write(200);
    assertThatThrownBy(() -> EntryModel.read(withRightSums(withVersion(file, 2), file)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessage(
            "sorted-7 was written by a newer Pando: its format has version 2, this Pando reads"
                + " version 1; use that version");
    assertThatThrownBy(() -> EntryModel.read(withRightSums(withVersion(file, 0), file)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("an older Pando: its format has version 0");
    assertThatThrownBy(() -> EntryModel.read(withVersion(file, 3)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("its header, of format version 3, has sum");
  }

  private static byte[] withVersion(byte[] file, int version) {
    byte[] changed = file.clone();
    changed[8] = (byte) version;
    return changed;
  }

  @Test
  void shouldFindAGapBeforeTheFirstBlock() throws IOException {
    byte[] file = write(200);
    byte[] changed = file.clone();
    changed[indexAt(file)]++;
    assertThatThrownBy(() -> EntryModel.read(withRightSums(changed, file)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("a block begins at 4097, where the one before ends at 4096");
  }

  @Test
  void shouldFindAGapInPlaceOfBlocks() throws IOException {
    byte[] empty = EntryModel.write(Map.of(), false, 200);
    byte[] file = withGap(empty, FIRST_BLOCK);
    MemorySegment.ofArray(file).set(LONG, file.length - FOOTER_BYTES, FIRST_BLOCK + GAP);
    mendFooter(file);
    assertThatThrownBy(() -> EntryModel.read(file))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("its index has other blocks than its footer says");
  }

  @Test
  void shouldFindAGapBehindTheIndex() throws IOException {
    byte[] file = write(200);
    byte[] changed = withGap(file, file.length - FOOTER_BYTES - SortedFileFormat.INDEX_SUM_BYTES);
    assertThatThrownBy(() -> EntryModel.read(withRightSums(changed, file)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("its index has other blocks than its footer says");
  }

  private static byte[] withGap(byte[] file, int at) {
    byte[] changed = Arrays.copyOf(file, file.length + GAP);
    System.arraycopy(file, at, changed, at + GAP, file.length - at);
    Arrays.fill(changed, at, at + GAP, (byte) 0);
    return changed;
  }

  @Test
  void shouldFindABlockWithoutEntries() throws IOException {
    byte[] file = write(200);
    byte[] changed = file.clone();
    MemorySegment.ofArray(changed)
        .set(INT, (long) indexAt(file) + SortedFileFormat.INDEX_ENTRIES, 0);
    assertThatThrownBy(() -> EntryModel.read(withRightSums(changed, file)))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("cannot have 0 entries");
  }

  @Test
  void shouldNameTheBlockAndItsKeys() throws IOException {
    byte[] file = write(200);
    file[FIRST_BLOCK + 200] ^= 1;
    int begin = FIRST_BLOCK + MemorySegment.ofArray(file).get(INT, FIRST_BLOCK);
    // The keys are "key" and three digits.
    String key = "0x6b6579[0-9a-f]{6}";
    assertThatThrownBy(() -> EntryModel.read(file))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageMatching(
            "sorted-7 is damaged: the block at %d, of [0-9]+ bytes, with [0-9]+ keys"
                    .formatted(begin)
                + " from %s to below %s: its sum is [0-9a-f]{8} instead of [0-9a-f]{8}"
                    .formatted(key, key));
  }

  /** An earlier file of the same changes, with the same keys in other states. */
  @Test
  void shouldFindABlockOfAnEarlierFileInItsPlace() throws IOException {
    byte[] file = write(200);
    TreeMap<String, Optional<String>> earlier = new TreeMap<>();
    model.forEach((key, value) -> earlier.put(key, value.map(its -> "w" + its.substring(1))));
    byte[] stale = EntryModel.write(earlier, false, 200, 7);
    int bytes = MemorySegment.ofArray(file).get(INT, FIRST_BLOCK);
    assertThat(MemorySegment.ofArray(stale).get(INT, FIRST_BLOCK)).isEqualTo(bytes);
    System.arraycopy(stale, FIRST_BLOCK, file, FIRST_BLOCK, bytes);
    assertThatThrownBy(() -> EntryModel.read(file))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("the block at 4096")
        .hasMessageContaining("its sum is");
  }

  @Test
  void shouldFindABlockOfOtherKeys() throws IOException {
    byte[] file = write(200);
    TreeMap<String, Optional<String>> others = new TreeMap<>();
    model.forEach((key, value) -> others.put(key.replace('k', 'l'), value));
    byte[] other = EntryModel.write(others, false, 200);
    int bytes = MemorySegment.ofArray(file).get(INT, FIRST_BLOCK);
    System.arraycopy(other, FIRST_BLOCK, file, FIRST_BLOCK, bytes);
    assertThatThrownBy(() -> EntryModel.read(file))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageEndingWith("its first key is another one");
  }

  @Test
  void shouldCloseAFileThatItRefuses() {
    BytesFile file = new BytesFile(new byte[5_000]);
    assertThatThrownBy(() -> SortedFile.open(file, "sorted-7"))
        .isInstanceOf(DamagedFolderException.class);
    assertThat(file.isClosed()).isTrue();
  }

  @Test
  void shouldFindADigestThatIsAnother() throws IOException {
    byte[] file = write(200);
    file[file.length - 60] ^= 1;
    mendFooter(file);
    SortedFile sorted = SortedFile.open(new BytesFile(file), "sorted-7");
    assertThatThrownBy(sorted::verify)
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("SHA-256");
  }
}
