package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.layout.ServerLayout;

/** Requests as they are written, and as nobody should write them. */
class RequestTest {
  private static final long SEED = Long.getLong("pando.test.seed", 0x5EED_0011L);
  private static final int MUTATIONS = Boolean.getBoolean("pando.soak") ? 1_000_000 : 20_000;
  private static final int SERVER = 3;
  private static final long DRAM_BYTES = Fabric.CATALOGUE_BYTES + (1 << 20);

  private static final Hello.Request CLIENT =
      new Hello.Request(Hello.VERSION, AuthenticationKind.NONE, Role.COMPUTE, null, 0);

  private static final Hello.Request ADMIN =
      new Hello.Request(Hello.VERSION, AuthenticationKind.NONE, Role.ADMIN, null, 0);

  private final MemorySegment memory = Arena.ofAuto().allocate(1 << 20, 64);
  private final RequestWriter writer = new RequestWriter(0);
  private final FrameBuffer buffer = new FrameBuffer();
  private final RequestReader reader = new RequestReader(SERVER, DRAM_BYTES);

  @Test
  void shouldReadWhatWasWritten() throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 2_000; round++) {
      VerbList list = randomList(random);
      byte[] frame = frame(list, round);
      assertThat(status(frame)).isEqualTo(Frame.DONE);
      assertThat(reader.kindOfRequest()).isEqualTo(Frame.LIST);
      assertThat(reader.sequence()).isEqualTo(round);
      assertThat(reader.verbs()).isEqualTo(list.size());
      for (int i = 0; i < list.size(); i++) {
        assertSame(list, i, frame);
        reader.next();
      }
    }
  }

  private boolean isCall() {
    return reader.kindOfRequest() == Frame.CALL;
  }

  private void assertSame(VerbList list, int i, byte[] frame) {
    Kind kind = list.kind(i);
    assertThat(reader.kind()).isEqualTo(kind);
    assertThat(reader.address()).isEqualTo(list.remote(i));
    assertThat(reader.bytes()).isEqualTo(list.length(i));
    MemorySegment bytes = MemorySegment.ofArray(frame);
    if (kind == Kind.WRITE) {
      assertEqual(bytes, reader.payloadOffset(), list.local(i), list.length(i));
    } else if (kind == Kind.MASKED_CAS_16) {
      assertEqual(bytes, reader.operandsOffset(), list.local(i), kind.operandBytes());
    } else {
      for (int operand = 0; operand < kind.operandBytes() / Long.BYTES; operand++) {
        assertThat(reader.operand(operand)).isEqualTo(list.operand(i, operand));
      }
    }
  }

  private void assertEqual(MemorySegment bytes, long offset, long local, long length) {
    assertThat(
            MemorySegment.mismatch(bytes, offset, offset + length, memory, local, local + length))
        .isEqualTo(-1);
  }

  @Test
  void shouldReadCalls() throws IOException {
    for (int bytes : new int[] {0, 1, 8, Worker.CALL_BYTES_MAX}) {
      writer.call(9, 255, memory, 64, bytes);
      byte[] frame = sent();
      assertStatus(frame, Frame.DONE);
      assertThat(reader.kindOfRequest()).isEqualTo(Frame.CALL);
      assertThat(reader.function()).isEqualTo(255);
      assertThat(reader.bytes()).isEqualTo(bytes);
      assertEqual(MemorySegment.ofArray(frame), reader.payloadOffset(), 64, bytes);
    }
  }

  @Test
  void shouldTellWhetherItHasLeftWhole() throws IOException {
    int length = frame(new VerbList().write(address(64), 0, 1_000), 1).length;
    for (int taken : new int[] {0, 1, length - 1, length}) {
      assertThatThrownBy(() -> writer.send(endingAfter(taken)))
          .isInstanceOf(AsynchronousCloseException.class);
      assertThat(writer.hasLeft()).isEqualTo(taken == length);
    }
    sent();
    assertThat(writer.hasLeft()).isTrue();
  }

  /** Returns a channel that is closed when it has taken so many bytes. */
  private static WritableByteChannel endingAfter(int bytes) {
    return new WritableByteChannel() {
      private int left = bytes;

      @Override
      public int write(ByteBuffer source) throws IOException {
        int taken = Math.min(left, source.remaining());
        source.position(source.position() + taken);
        left -= taken;
        if (left == 0) {
          // As a channel that is closed in the middle of a write.
          throw new AsynchronousCloseException();
        }
        return taken;
      }

      @Override
      public boolean isOpen() {
        return true;
      }

      @Override
      public void close() {}
    };
  }

  @Test
  void shouldTakeNoAnswerThatDoesNotFit() throws IOException {
    frame(new VerbList().read(address(64), 0, 9).faa(address(64), 1, 0), 1);
    for (int bytes : new int[] {0, 16, 24, 32}) {
      assertThat(isAnsweredBy(Frame.DONE, 0, bytes)).as("%d", bytes).isEqualTo(bytes == 24);
      assertThat(isAnsweredBy(Frame.OUTSIDE, 0, bytes)).isFalse();
      assertThat(isAnsweredBy(Frame.CALL_FAILED, bytes, bytes)).isFalse();
      assertThat(isAnsweredBy(Frame.REFUSED, bytes, bytes)).isTrue();
      assertThat(isAnsweredBy(Frame.REFUSED, bytes + 1, bytes)).isFalse();
    }
    assertThat(isAnsweredBy(Frame.BUSY, 0, 0)).isFalse();
    assertThat(isAnsweredBy(Frame.FENCED, 0, 0)).isTrue();
    assertThat(isAnsweredBy(Frame.FENCED, 0, 8)).isFalse();
    assertThat(isAnsweredBy(Frame.FENCED + 1, 0, 0)).isFalse();
    assertThat(isAnsweredBy(Frame.DONE + 256, 0, 24)).isFalse();

    writer.call(1, 16, memory, 0, 8);
    assertThat(isAnsweredBy(Frame.DONE, 5, 8)).isTrue();
    assertThat(isAnsweredBy(Frame.DONE, 9, 8)).isFalse();
    assertThat(isAnsweredBy(Frame.DONE, Worker.CALL_BYTES_MAX + 8, Worker.CALL_BYTES_MAX + 8))
        .isFalse();
    assertThat(isAnsweredBy(Frame.CALL_FAILED, 5, 8)).isTrue();
    assertThat(isAnsweredBy(Frame.BUSY, 0, 0)).isTrue();
    assertThat(isAnsweredBy(Frame.BUSY, 0, 8)).isFalse();
    assertThat(isAnsweredBy(Frame.MISALIGNED, 0, 0)).isFalse();

    writer.fence(1, 5, 7);
    assertThat(isAnsweredBy(Frame.DONE, 0, 0)).isTrue();
    assertThat(isAnsweredBy(Frame.DONE, 0, 8)).isFalse();
    assertThat(isAnsweredBy(Frame.BUSY, 0, 0)).isTrue();
    assertThat(isAnsweredBy(Frame.FENCED, 0, 0)).isFalse();
    assertThat(isAnsweredBy(Frame.CALL_FAILED, 0, 0)).isFalse();
  }

  @Test
  void shouldReadFencesOfAdminsAlone() throws IOException {
    for (int number : new int[] {0, ComputeServer.NUMBER_MAX}) {
      for (long epoch : new long[] {1, ComputeServer.EPOCH_MAX}) {
        writer.fence(9, number, epoch);
        byte[] frame = sent();
        assertThat(reader.check(buffer(frame), ADMIN)).isEqualTo(Frame.DONE);
        assertThat(reader.kindOfRequest()).isEqualTo(Frame.FENCE);
        assertThat(reader.computeServer()).isEqualTo(number);
        assertThat(reader.leastEpoch()).isEqualTo(epoch);
        assertThat(reader.responseBytes()).isEqualTo(Frame.RESPONSE_BYTES);
        assertRefused(frame, CLIENT, "not for this role");
      }
    }
    assertRefused(frame(new VerbList().read(address(64), 0, 8), 1), ADMIN, "not for this role");
    writer.call(1, 16, memory, 0, 8);
    assertRefused(sent(), ADMIN, "not for this role");
  }

  @Test
  void shouldRefuseFencesThatMakeNoSense() throws IOException {
    for (int number : new int[] {-1, ComputeServer.NUMBER_MAX + 1, Integer.MIN_VALUE}) {
      writer.fence(1, number, 1);
      assertRefused(sent(), ADMIN, "no compute server has this number");
    }
    for (long epoch : new long[] {0, -1, Long.MIN_VALUE}) {
      writer.fence(1, 5, epoch);
      assertRefused(sent(), ADMIN, "no such epoch");
    }
    writer.fence(1, 5, 1);
    byte[] frame = sent();
    assertRefused(with(frame, Frame.REQUEST_BYTES, 1, 1), ADMIN, "unknown fence");
    assertRefused(with(frame, Frame.VERBS, 2, 2), ADMIN, "impossible number of verbs");
    assertRefused(with(frame, Frame.EPOCH, 8, 1), ADMIN, "another epoch");
  }

  @Test
  void shouldRefuseAnotherEpochThanThatOfTheHello() throws IOException {
    RequestWriter named = new RequestWriter(7);
    Hello.Request client =
        new Hello.Request(
            Hello.VERSION, AuthenticationKind.NONE, Role.COMPUTE, new ComputeServer(3, 7), 0);
    named.call(1, 16, memory, 0, 8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    named.send(Channels.newChannel(out));
    assertThat(reader.check(buffer(out.toByteArray()), client)).isEqualTo(Frame.DONE);
    for (long epoch : new long[] {0, 6, 8, -1, Long.MAX_VALUE}) {
      byte[] frame = with(out.toByteArray(), Frame.EPOCH, 8, epoch);
      assertRefused(frame, client, "another epoch than that of the HELLO: value=" + epoch);
    }
    assertRefused(out.toByteArray(), CLIENT, "another epoch than that of the HELLO: value=7");
  }

  private void assertRefused(byte[] frame, Hello.Request client, String because) {
    assertThatThrownBy(() -> reader.check(buffer(frame), client))
        .isInstanceOf(FrameException.class)
        .hasMessageContaining(because);
  }

  private boolean isAnsweredBy(int status, int detail, int bytes) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(Frame.RESPONSE_BYTES + bytes);
    frame.order(ByteOrder.LITTLE_ENDIAN).putInt(Frame.LENGTH, frame.capacity());
    frame.putShort(Frame.STATUS, (short) status).putShort(Frame.DETAIL, (short) detail);
    frame.putLong(Frame.SEQUENCE, 1);
    ResponseReader response = new ResponseReader();
    response.receive(Channels.newChannel(new ByteArrayInputStream(frame.array())), 1);
    return writer.isAnsweredBy(response);
  }

  @Test
  void shouldTakeFramesOneByOneHoweverTheyArrive() throws IOException {
    byte[] first = frame(new VerbList().write(address(64), 0, 40_000), 1);
    byte[] second = frame(new VerbList().read(address(64), 0, 8), 2);
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    for (int step : new int[] {1, 7, 4_096, both.length}) {
      buffer.clear();
      ReadableByteChannel slowly = Channels.newChannel(inSteps(both, step));
      for (long sequence = 1; sequence <= 2; sequence++) {
        boolean whole = false;
        while (!whole) {
          whole = buffer.fill(slowly, Frame.REQUEST_BYTES);
        }
        assertThat(reader.check(buffer, CLIENT)).isEqualTo(Frame.DONE);
        assertThat(reader.sequence()).isEqualTo(sequence);
        buffer.consume();
      }
    }
  }

  /** Returns a stream that gives only so many bytes at a time. */
  private static InputStream inSteps(byte[] bytes, int step) {
    return new FilterInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        return super.read(target, offset, Math.min(length, step));
      }
    };
  }

  @Test
  void shouldRefuseHeadersOutsideTheirRanges() throws IOException {
    byte[] frame = frame(new VerbList().faa(address(64), 1, 0), 1);
    for (int length : new int[] {-1, 0, 24, 31, 33, frame.length + 1, Frame.BYTES_MAX + 8}) {
      assertRefused(with(frame, Frame.LENGTH, 4, length));
    }
    for (int kind : new int[] {-1, 0, Frame.CALL, 3, 6, 255}) {
      assertRefused(with(frame, Frame.KIND, 1, kind));
    }
    for (int verbs : new int[] {-1, 0, 2, Frame.VERBS_MAX, Frame.VERBS_MAX + 1, 0xffff}) {
      assertRefused(with(frame, Frame.VERBS, 2, verbs));
    }
    assertRefused(with(frame, Frame.FLAGS, 1, 1));
    assertRefused(with(frame, Frame.EPOCH, 8, 1));
    assertRefused(with(frame, Frame.EPOCH, 8, -1));
    assertRefused(with(frame, Frame.WORKER, 4, 1));
    assertRefused(with(frame, Frame.WORKER, 4, -1));
    for (long sequence : new long[] {-1, 0, Long.MAX_VALUE}) {
      assertThat(status(with(frame, Frame.SEQUENCE, 8, sequence))).isEqualTo(Frame.DONE);
    }
    byte[] flipped = frame.clone();
    flipped[Frame.CHECKSUM] ^= 1;
    assertRefused(flipped);
  }

  @Test
  void shouldRefuseVerbsOutsideTheirRanges() throws IOException {
    int op = Frame.REQUEST_BYTES;
    int bytes = op + Frame.VERB_LENGTH;
    int address = op + Frame.VERB_ADDRESS;
    byte[] faa = frame(new VerbList().faa(address(64), 1, 0), 1);
    for (int other : new int[] {-1, 7, 127, 128, 255}) {
      assertRefused(with(faa, op, 1, other));
    }
    assertRefused(with(faa, op, 1, Frame.op(Kind.CAS)));
    assertRefused(with(faa, op + 1, 1, 1));
    assertRefused(with(faa, op + 2, 2, 0x100));
    for (int width : new int[] {-1, 0, 7, 9, 16}) {
      assertRefused(with(faa, bytes, 4, width));
    }
    assertStatus(with(faa, address, 8, address(65)), Frame.MISALIGNED);
    assertStatus(with(faa, address, 8, address(DRAM_BYTES - 8)), Frame.DONE);
    assertStatus(with(faa, address, 8, address(DRAM_BYTES)), Frame.OUTSIDE);
    assertStatus(with(faa, address, 8, -1), Frame.OUTSIDE);
    assertStatus(with(faa, address, 8, GlobalAddress.of(SERVER + 1, 64)), Frame.OUTSIDE);
    assertStatus(with(faa, address, 8, GlobalAddress.swizzled(address(64))), Frame.OUTSIDE);
    int chip = ServerLayout.ON_CHIP_BYTES;
    assertStatus(with(faa, address, 8, GlobalAddress.onChip(SERVER, chip - 8)), Frame.DONE);
    assertStatus(with(faa, address, 8, GlobalAddress.onChip(SERVER, chip)), Frame.OUTSIDE);

    byte[] read = frame(new VerbList().read(address(0), 0, 8), 1);
    assertRefused(with(read, bytes, 4, -1));
    assertStatus(with(read, bytes, 4, 0), Frame.DONE);
    assertStatus(with(read, bytes, 4, Frame.VERB_BYTES_MAX), Frame.DONE);
    assertRefused(with(read, bytes, 4, Frame.VERB_BYTES_MAX + 1));
    assertStatus(with(read, address, 8, address(DRAM_BYTES - 7)), Frame.OUTSIDE);

    byte[] write = frame(new VerbList().write(address(0), 0, 16), 1);
    for (int length : new int[] {-1, 0, 8, 17, 24, Frame.VERB_BYTES_MAX + 1}) {
      assertRefused(with(write, bytes, 4, length));
    }
  }

  @Test
  void shouldRefuseAResponseThatIsTooLong() throws IOException {
    VerbList two = new VerbList();
    two.read(address(0), 0, Frame.VERB_BYTES_MAX).read(address(0), 0, 8);
    byte[] frame = frame(two, 1);
    int second = Frame.REQUEST_BYTES + Frame.VERB_BYTES + Frame.VERB_LENGTH;
    int room = Frame.BYTES_MAX - Frame.RESPONSE_BYTES - Frame.VERB_BYTES_MAX;
    assertStatus(with(frame, second, 4, room), Frame.DONE);
    assertRefused(with(frame, second, 4, room + 1));
  }

  @Test
  void shouldNameTheFirstVerbThatPreventsAList() throws IOException {
    VerbList list = new VerbList().faa(address(64), 1, 0).faa(address(65), 1, 0);
    list.read(address(DRAM_BYTES), 0, 8);
    assertStatus(frame(list, 1), Frame.MISALIGNED);
    assertThat(reader.badVerb()).isEqualTo(1);
  }

  @Test
  void shouldRefuseCallsOutsideTheirRanges() throws IOException {
    writer.call(1, 16, memory, 0, 8);
    byte[] call = sent();
    int bytes = Frame.REQUEST_BYTES + Frame.VERB_LENGTH;
    for (int length : new int[] {-1, 0, 9, Worker.CALL_BYTES_MAX, Worker.CALL_BYTES_MAX + 1}) {
      assertRefused(with(call, bytes, 4, length));
    }
    assertRefused(with(call, Frame.REQUEST_BYTES + Frame.VERB_ADDRESS, 8, 8));
    assertRefused(with(call, Frame.VERBS, 2, 2));
  }

  @Test
  void shouldLetNoMutatedFrameReachBytesThatAreNotThere() throws IOException {
    System.out.println("seed=" + SEED + ", mutations=" + MUTATIONS);
    SplittableRandom random = new SplittableRandom(SEED);
    int passed = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] frame = frame(randomList(random), i);
      mutate(frame, random);
      if (random.nextInt(4) > 0) {
        sign(frame);
      }
      try {
        if (status(frame) == Frame.DONE) {
          assertHarmless(buffer.length());
          passed++;
        }
      } catch (IOException refused) {
        assertThat(refused).hasMessageContaining("=");
      }
    }
    assertThat(passed).isBetween(MUTATIONS / 100, MUTATIONS);
  }

  /** Checks a request by the drawing of the frame, apart from the reader's own sums. */
  private void assertHarmless(int length) {
    long response = Frame.RESPONSE_BYTES;
    int verbs = reader.verbs();
    assertThat(verbs).isBetween(1, isCall() ? 1 : Frame.VERBS_MAX);
    for (int i = 0; i < verbs; i++) {
      assertThat(reader.bytes()).isBetween(0, Frame.VERB_BYTES_MAX);
      assertThat(reader.payloadOffset()).isBetween(Frame.REQUEST_BYTES, length);
      if (isCall()) {
        assertThat(reader.payloadOffset() + reader.bytes()).isLessThanOrEqualTo(length);
        return;
      }
      Kind kind = reader.kind();
      assertThat(reader.operandsOffset() + kind.operandBytes()).isLessThanOrEqualTo(length);
      if (kind == Kind.WRITE) {
        assertThat(reader.payloadOffset() + reader.bytes()).isLessThanOrEqualTo(length);
      } else {
        response += (reader.bytes() + 7L) / 8 * 8;
      }
      long address = reader.address();
      long end = GlobalAddress.offset(address) + reader.bytes();
      assertThat(address).isNotNegative();
      assertThat(GlobalAddress.server(address)).isEqualTo(SERVER);
      assertThat(end)
          .isLessThanOrEqualTo(
              GlobalAddress.isOnChip(address) ? ServerLayout.ON_CHIP_BYTES : DRAM_BYTES);
      if (kind.isAtomic()) {
        assertThat(reader.bytes()).isEqualTo(kind.resultBytes());
        assertThat(address % kind.resultBytes()).isZero();
      }
      reader.next();
    }
    assertThat(response).isEqualTo(reader.responseBytes()).isLessThanOrEqualTo(Frame.BYTES_MAX);
  }

  private static void mutate(byte[] frame, SplittableRandom random) {
    for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
      // Mostly the header and the verbs.
      int at = random.nextInt(Math.min(frame.length, random.nextInt(8) == 0 ? 1 << 20 : 160));
      switch (random.nextInt(3)) {
        case 0 -> frame[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> frame[at] = (byte) random.nextInt();
        default -> frame[at] = (byte) (random.nextBoolean() ? 0 : -1);
      }
    }
  }

  private VerbList randomList(SplittableRandom random) {
    VerbList list = new VerbList();
    int size = random.nextInt(1, 12);
    for (int i = 0; i < size; i++) {
      long word = random.nextInt(1 << 16) * 16L;
      long remote =
          random.nextInt(4) == 0 ? GlobalAddress.onChip(SERVER, word & 0xfff0) : address(word);
      long local = random.nextInt(1 << 12) * 16L;
      long a = random.nextLong();
      long b = random.nextLong();
      switch (random.nextInt(7)) {
        case 0 -> list.read(remote, local, random.nextInt(300));
        case 1 -> list.write(remote, local, random.nextInt(300));
        case 2 -> list.cas(remote, a, b, local);
        case 3 -> list.faa(remote, a, local);
        case 4 -> list.maskedCas(remote, a, b, ~a, ~b, local);
        case 5 -> list.maskedFaa(remote, a, b, local);
        default -> list.maskedCas16(remote, local);
      }
    }
    return list;
  }

  private static long address(long offset) {
    return GlobalAddress.of(SERVER, offset);
  }

  private byte[] frame(VerbList list, long sequence) throws IOException {
    writer.begin();
    for (int i = 0; i < list.size(); i++) {
      assertThat(writer.add(list, i, memory)).isTrue();
    }
    writer.beginPayloads();
    for (int i = 0; i < list.size(); i++) {
      if (list.kind(i) == Kind.WRITE) {
        writer.payload(memory, list.local(i), list.length(i));
      }
    }
    writer.finish(sequence);
    return sent();
  }

  private byte[] sent() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    writer.send(Channels.newChannel(out));
    return out.toByteArray();
  }

  private FrameBuffer buffer(byte[] frame) throws IOException {
    buffer.clear();
    ReadableByteChannel input = Channels.newChannel(new ByteArrayInputStream(frame));
    boolean whole = false;
    while (!whole) {
      whole = buffer.fill(input, Frame.REQUEST_BYTES);
    }
    return buffer;
  }

  private int status(byte[] frame) throws IOException {
    return reader.check(buffer(frame), CLIENT);
  }

  private void assertStatus(byte[] frame, int status) throws IOException {
    assertThat(status(frame)).isEqualTo(status);
  }

  private void assertRefused(byte[] frame) {
    assertThatThrownBy(() -> status(frame)).isInstanceOf(IOException.class);
  }

  /** Returns the frame with another value somewhere, and a checksum that fits. */
  private static byte[] with(byte[] frame, int offset, int bytes, long value) {
    byte[] changed = frame.clone();
    for (int i = 0; i < bytes; i++) {
      changed[offset + i] = (byte) (value >>> (8 * i));
    }
    sign(changed);
    return changed;
  }

  /** Puts in the checksum that fits, if the verbs are where they should be. */
  private static void sign(byte[] frame) {
    ByteBuffer bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    int at = Frame.REQUEST_BYTES;
    int count = bytes.getShort(Frame.VERBS) & 0xffff;
    for (int i = 0; i < count && at + Frame.VERB_BYTES <= frame.length; i++) {
      int op = bytes.get(at);
      boolean list = bytes.get(Frame.KIND) != Frame.CALL && op >= 0 && op < Frame.kinds();
      at += Frame.VERB_BYTES + (list ? Frame.kind(op).operandBytes() : 0);
    }
    if (at <= frame.length) {
      bytes.putInt(Frame.CHECKSUM, Frame.checksum(new CRC32C(), bytes, at));
    }
  }
}
