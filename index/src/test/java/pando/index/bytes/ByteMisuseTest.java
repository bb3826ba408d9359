package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.orca.OrcaIndex;
import pando.index.orca.OrcaOptions;

class ByteMisuseTest {
  private static final ByteOptions OPTIONS =
      ByteOptions.defaults()
          .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  private final Fabric fabric = Pools.open(2, 64 << 20, 2601);

  @AfterEach
  void close() {
    fabric.close();
  }

  private static MemorySegment bytes(int length) {
    return MemorySegment.ofArray(new byte[length]);
  }

  @Test
  void shouldTakeKeysAndValuesUpToTheirLimits() {
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      int valueMax = index.space.lengthMax();
      session.put(bytes(ByteIndex.KEY_BYTES_MAX), bytes(valueMax));
      session.put(bytes(ByteIndex.KEY_BYTES_MAX - 1), bytes(64));
      session.put(bytes(0), bytes(65));
      assertThat(session.get(bytes(ByteIndex.KEY_BYTES_MAX))).isTrue();
      assertThat(session.value().byteSize()).isEqualTo(valueMax);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.put(bytes(ByteIndex.KEY_BYTES_MAX + 1), bytes(1)))
          .withMessage("the key is too long: keyBytes=65536, maximum=65535");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.put(bytes(1), bytes(valueMax + 1)))
          .withMessageContaining("valueBytes=" + (valueMax + 1));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.floor(bytes(ByteIndex.KEY_BYTES_MAX + 1)));
      assertThat(session.last()).isTrue();
      assertThat(session.key().byteSize()).isEqualTo(ByteIndex.KEY_BYTES_MAX);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // Null is what the test is about.
  void shouldRefuseWhatMakesNoSense() {
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      MemorySegment low = MemorySegment.ofArray(new byte[] {1});
      MemorySegment high = MemorySegment.ofArray(new byte[] {2});
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(high, low, 1, (key, value) -> true))
          .withMessage("range is reversed: from=02, to=01");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scanDown(low, high, 1, (key, value) -> true))
          .withMessage("range is reversed: from=01, to=02");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(low, null, -1, (key, value) -> true))
          .withMessage("limit is negative: limit=-1");
      assertThat(session.scan(low, null, 0, (key, value) -> true)).isZero();
      for (int i = 0; i < 3; i++) {
        int each = i;
        assertThatNullPointerException()
            .isThrownBy(() ->
                session.replace(
                    each == 0 ? null : low, each == 1 ? null : low, each == 2 ? null : low));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> OPTIONS.withBlockBytes(100, 8))
          .withMessageContaining("block-bytes is out of range: value=100");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ByteIndex.create(fabric, OPTIONS.withBlockBytes(256, 65)))
          .withMessageContaining("inline-max=65, block-bytes=256");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> OPTIONS.withLabels(OrcaOptions.defaults().withComputeServers(2)))
          .withMessageContaining("computeServers=2");
    }
  }

  @Test
  void shouldRefuseVisitorsThatUseTheSession() {
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      session.put(bytes(1), bytes(1));
      Runnable closing = session::close;
      assertThatIllegalStateException()
          .isThrownBy(() -> session.scan(bytes(0), null, 9, (key, value) -> session.get(key)))
          .withMessageContaining("visitor");
      assertThatIllegalStateException()
          .isThrownBy(() ->
              session.scanDown(
                  null,
                  bytes(0),
                  9,
                  (key, value) -> {
                    closing.run();
                    return true;
                  }));
      assertThat(session.get(bytes(1))).isTrue();
    }
  }

  @Test
  void shouldTakeWhatASessionReturnedAsAnArgument() {
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS.withCacheBytes(0));
        ByteSession session = index.session()) {
      MemorySegment value =
          MemorySegment.ofArray("a value that is a blob ".repeat(10).getBytes(UTF_8));
      session.put(bytes(1), value);
      assertThat(session.get(bytes(1))).isTrue();
      session.put(bytes(2), session.value());
      assertThat(session.get(bytes(2))).isTrue();
      assertThat(session.value().mismatch(value)).isEqualTo(-1);
      assertThat(session.replace(bytes(2), session.value(), session.value())).isTrue();
      assertThat(session.get(bytes(2))).isTrue();
      assertThat(session.get(session.value().asSlice(0, 1))).isFalse();
    }
  }

  @Test
  void shouldSayWhatIsClosed() {
    ByteIndex index = ByteIndex.create(fabric, OPTIONS);
    ByteSession session = index.session();
    ByteSession other = index.session();
    session.close();
    session.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> session.get(bytes(1)))
        .withMessage("the session is closed");
    index.close();
    index.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> other.get(bytes(1)))
        .withMessage("the index is closed");
    assertThatIllegalStateException()
        .isThrownBy(() -> other.scan(bytes(0), null, 0, (k, v) -> true));
    assertThatIllegalStateException().isThrownBy(index::session).withMessage("the index is closed");
    other.close();
  }

  @Test
  void shouldRefuseAPoolOfAnotherKind() {
    assertThatIllegalStateException().isThrownBy(() -> ByteIndex.open(fabric, OPTIONS));
    try (RangeIndex longs = OrcaIndex.create(fabric, OPTIONS.labels())) {
      assertThat(longs.poolBytes()).isPositive();
      assertThatIllegalStateException().isThrownBy(() -> ByteIndex.create(fabric, OPTIONS));
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> ByteIndex.open(fabric, OPTIONS))
        .withMessage("the pool holds no index of byte strings");
  }
}
