package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.wire.FrameException;
import pando.index.Seeds;

/** What a client takes of a compute server that answers wrongly. */
class ByteCallTest {
  private final ByteCall call = new ByteCall();

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static @Nullable MemorySegment end(String text) {
    return text.equals("none") ? null : bytes(text);
  }

  /** A page with a key to go on from, and entries whose values are their keys. */
  private static FrameWriter page(int outcome, String goOn, String keys) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTE_SCAN);
    writer.result(outcome, 0, goOn.length(), 0, "");
    writer.bytes(bytes(goOn));
    writer.fill();
    String[] all = keys.isEmpty() ? new String[0] : keys.split(" ");
    for (String key : all) {
      writer.pair(key.length(), key.length());
      writer.bytes(bytes(key));
      writer.bytes(bytes(key));
      writer.fill();
    }
    writer.count(all.length);
    writer.finish(0, 1, 2);
    return writer;
  }

  private static byte[] sent(FrameWriter writer) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (writer.unsent() > 0) {
      writer.send(Channels.newChannel(bytes));
    }
    return bytes.toByteArray();
  }

  private void take(FrameWriter writer) throws IOException {
    FrameReader reader = FrameReader.ofResponses();
    ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(sent(writer)));
    while (!reader.open()) {
      assertThat(reader.read(channel)).isPositive();
    }
    call.takeResponse(reader);
  }

  @ParameterizedTest
  @CsvSource({
    "false, b, f, 0, '', ''",
    "false, b, f, 0, '', b c e",
    "false, b, f, 1, c, b",
    "false, b, f, 1, e, ''",
    "false, b, none, 1, z, b c",
    "true, b, f, 0, '', e c b",
    "true, b, f, 1, c, e c",
    "true, b, f, 1, c, ''",
    "true, b, none, 1, x, z y x"
  })
  void shouldTakePages(boolean down, String low, String high, int outcome, String goOn, String keys)
      throws IOException {
    call.scan(bytes(low), end(high), down, 4, 100);
    take(page(outcome, goOn, keys));
    assertThat(call.entries).isEqualTo(keys.isEmpty() ? 0 : keys.split(" ").length);
  }

  @ParameterizedTest
  @CsvSource({
    "false, b, f, 0, '', a",
    "false, b, f, 0, '', f",
    "false, b, f, 0, '', c b",
    "false, b, f, 0, '', c c",
    "false, b, f, 0, '', b c d dd e",
    "false, b, f, 1, c, c",
    "false, b, f, 1, b, ''",
    "false, b, f, 1, f, b",
    "false, b, f, 1, '', b",
    "true, b, f, 0, '', f",
    "true, b, f, 0, '', a",
    "true, b, f, 0, '', c e",
    "true, b, f, 1, e, c",
    "true, b, f, 1, f, ''",
    "true, b, f, 1, b, c",
    "true, b, f, 1, '', c"
  })
  void shouldRefusePagesOutOfOrder(
      boolean down, String low, String high, int outcome, String goOn, String keys) {
    call.scan(bytes(low), end(high), down, 4, 100);
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> take(page(outcome, goOn, keys)));
  }

  private static FrameWriter result(int outcome, String key, String value) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTES);
    writer.result(outcome, 0, key.length(), value.length(), "");
    writer.bytes(bytes(key));
    writer.bytes(bytes(value));
    writer.fill();
    writer.count(0);
    writer.finish(0, 1, 2);
    return writer;
  }

  @ParameterizedTest
  @CsvSource({"10, 1, n", "10, 3, n", "13, 3, m", "15, 3, n", "11, 1, m", "14, 1, n", "11, 3, n"})
  void shouldRefuseNeighboursOnTheOtherSide(int op, int outcome, String found) throws IOException {
    boolean down = Op.isDown(op);
    call.operation(op, op == Op.LAST ? ByteCall.NOTHING : bytes("m"), bytes(""), bytes(""));
    String right = down ? "a" : "z";
    take(result(outcome, right, "v"));
    assertThat(call.found.mismatch(bytes(right))).isEqualTo(-1);
    if (op != Op.LAST) {
      String wrong = found.equals("n") ? (down ? "n" : "a") : "m";
      boolean mayBeEqual = wrong.equals("m") && outcome == Outcome.YES && op == Op.CEILING;
      if (!mayBeEqual) {
        assertThatExceptionOfType(FrameException.class)
            .isThrownBy(() -> take(result(outcome, wrong, "v")));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"-1, 1", "65536, 1", "1, -1", "1, 491521", "1, 4294967296", "9, 9", "0, 100"})
  void shouldRefuseLengthsThatAreNotThere(long keyBytes, long valueBytes) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTES);
    writer.result(Outcome.YES, 0, keyBytes, valueBytes, "");
    writer.word(0);
    writer.count(0);
    writer.finish(0, 1, 2);
    call.operation(Op.GET, bytes("k"), bytes(""), bytes(""));
    assertThatExceptionOfType(FrameException.class).isThrownBy(() -> take(writer));
  }

  @Test
  void shouldSayThatAValueIsWithheld() throws IOException {
    call.operation(Op.GET, bytes("k"), bytes(""), bytes(""));
    take(withheld(16 << 20));
    assertThat(call.outcome).isEqualTo(Outcome.YES);
    assertThatExceptionOfType(ClientException.class)
        .isThrownBy(call::value)
        .withMessage(
            "the value is longer than a client takes: valueBytes=16777216, maximum=491520");
  }

  @Test
  void shouldSayThatTheEntryWasChangedWhoseValueIsWithheld() throws IOException {
    call.operation(Op.REMOVE, bytes("k"), bytes(""), bytes(""));
    take(withheld(16 << 20));
    assertThatExceptionOfType(UnknownOutcomeException.class)
        .isThrownBy(call::value)
        .withMessageStartingWith("the entry was changed, and its value before is longer");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 491_520})
  void shouldRefuseToWithholdShortValues(long bytes) {
    call.operation(Op.GET, bytes("k"), bytes(""), bytes(""));
    assertThatExceptionOfType(FrameException.class).isThrownBy(() -> take(withheld(bytes)));
  }

  private static FrameWriter withheld(long valueBytes) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTES);
    writer.result(Outcome.YES, 0, 0, valueBytes, "");
    writer.count(0);
    writer.finish(ClientFrame.WITHHELD, 1, 2);
    return writer;
  }

  /** Whatever comes is taken in order, or refused. */
  @Test
  void shouldTakeOrRefuseWhateverComes() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2331));
    int refused = 0;
    int rounds = Seeds.count(20_000, 40_000, 2_000_000);
    for (int round = 0; round < rounds; round++) {
      FrameWriter writer = new FrameWriter();
      boolean isPage = random.nextBoolean();
      writer.begin(isPage ? ClientFrame.BYTE_SCAN : ClientFrame.BYTES);
      writer.result(random.nextInt(Outcome.OTHER_KIND + 2), 0, few(random), few(random), "");
      for (int words = random.nextInt(6); words > 0; words--) {
        writer.pair((int) few(random), (int) few(random));
      }
      writer.count(random.nextInt(3));
      writer.finish(random.nextInt(2), 1, 2);
      if (isPage) {
        call.scan(bytes(""), null, random.nextBoolean(), 2, 100);
      } else {
        call.operation(1 + random.nextInt(Op.LAST), bytes("\0"), bytes(""), bytes(""));
      }
      try {
        take(writer);
      } catch (FrameException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(rounds / 4, rounds - 1);
  }

  private static long few(SplittableRandom random) {
    return random.nextInt(20) == 0 ? random.nextLong() : random.nextInt(10);
  }
}
