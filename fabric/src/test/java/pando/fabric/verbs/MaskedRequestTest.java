package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.Mlx5WqeCtrlSeg;

/** Raw requests, byte by byte. */
class MaskedRequestTest {
  private static final int AT = 64;
  private static final String REMOTE = "8182838485868788" + "a1a2a3a4" + "00000000";
  private static final String LOCAL_PLACE = "b1b2b3b4" + "9192939495969798";

  private final MemorySegment memory = Arena.ofAuto().allocate(AT + MaskedRequest.ROOM + 64, 64);

  MaskedRequestTest() {
    memory.fill((byte) 0xff);
  }

  @Test
  void shouldWriteAMaskedCas() {
    MaskedRequest.cas(
        memory,
        AT,
        0x1112_1314_1516_1718L,
        0x2122_2324_2526_2728L,
        0x3132_3334_3536_3738L,
        0x4142_4344_4546_4748L);
    setPlaces();
    assertBytes(
        "09000014" + "cdef0105" + "00000000" + "00000000",
        REMOTE,
        "3132333435363738" + "1112131415161718",
        "4142434445464748" + "2122232425262728",
        "00000008" + LOCAL_PLACE);
  }

  @Test
  void shouldWriteAMaskedFaa() {
    MaskedRequest.faa(memory, AT, 0x1112_1314_1516_1718L, 0x8000_0000_0000_0001L);
    setPlaces();
    assertBytes(
        "09000015" + "cdef0104" + "00000000" + "00000000",
        REMOTE,
        "1112131415161718" + "8000000000000001",
        "00000008" + LOCAL_PLACE);
  }

  @Test
  void shouldWriteAMaskedCasOf16Bytes() {
    MemorySegment operands = Arena.ofAuto().allocate(96, 16);
    for (int i = 0; i < 8; i++) {
      Words.set(operands, 16 + 8L * i, 0x0101_0101_0101_0101L * (i + 1));
    }
    MaskedRequest.cas16(memory, AT, operands, 16);
    setPlaces();
    assertBytes(
        "0a000014" + "cdef0107" + "00000000" + "00000000",
        REMOTE,
        "0505050505050505" + "0606060606060606",
        "0101010101010101" + "0202020202020202",
        "0707070707070707" + "0808080808080808",
        "0303030303030303" + "0404040404040404",
        "00000010" + LOCAL_PLACE);
  }

  @Test
  void shouldAddFlags() {
    MaskedRequest.faa(memory, AT, 1, 2);
    MaskedRequest.addFlags(memory, AT, Mlx5WqeCtrlSeg.FENCE);
    MaskedRequest.addFlags(memory, AT, Mlx5WqeCtrlSeg.COMPLETION);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, AT + 11)).isEqualTo((byte) 0x88);
    // A request that is written in its place has none of them.
    MaskedRequest.faa(memory, AT, 1, 2);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, AT + 11)).isZero();
  }

  private void setPlaces() {
    MaskedRequest.setPlaces(
        memory, AT, 0x9192_9394_9596_9798L, 0xb1b2_b3b4, 0x8182_8384_8586_8788L, 0xa1a2_a3a4);
    // Twice, as a request may be sent by another queue pair than the one before.
    MaskedRequest.setQueuePair(memory, AT, 0x765432);
    MaskedRequest.setQueuePair(memory, AT, 0xcdef01);
  }

  private void assertBytes(String... units) {
    byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
    String before = HexFormat.of().formatHex(bytes, 0, AT);
    int end = AT + 16 * units.length;
    assertThat(HexFormat.of().formatHex(bytes, AT, end)).isEqualTo(String.join("", units));
    assertThat(before).isEqualTo("ff".repeat(AT));
    assertThat(HexFormat.of().formatHex(bytes, end, bytes.length))
        .isEqualTo("ff".repeat(bytes.length - end));
  }
}
