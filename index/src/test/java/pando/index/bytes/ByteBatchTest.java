package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Pools;

/** Batches of byte strings in this process, and what decides how large and why they failed. */
class ByteBatchTest {
  private static MemorySegment bytes(int... all) {
    byte[] bytes = new byte[all.length];
    for (int i = 0; i < all.length; i++) {
      bytes[i] = (byte) all[i];
    }
    return MemorySegment.ofArray(bytes);
  }

  @Test
  void shouldDoOneAfterTheOther() {
    try (Fabric fabric = Pools.open(1, 32 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults());
        ByteSession session = index.session()) {
      MemorySegment tooLong = MemorySegment.ofArray(new byte[index.keyBytesMax() + 1]);
      List<MemorySegment> keys = List.of(bytes(1), tooLong, bytes(2), bytes(1));
      List<String> outcomes = new ArrayList<>();
      session.storeAll(
          keys,
          List.of(bytes(10), bytes(11), bytes(12), bytes(13)),
          (place, value, failure) -> outcomes.add(text(place, value, failure)));
      session.getAll(keys, (place, value, failure) -> outcomes.add(text(place, value, failure)));
      assertThat(outcomes)
          .containsExactly(
              "0 null null",
              "1 null IllegalArgumentException",
              "2 null null",
              "3 null null",
              "0 0d null",
              "1 null IllegalArgumentException",
              "2 0c null",
              "3 0d null");
      outcomes.clear();
      session.storeAll(
          keys, keys, (place, value, failure) -> !outcomes.add(text(place, value, failure)));
      session.getAll(
          List.of(bytes(3), bytes(2)),
          (place, value, failure) -> !outcomes.add(text(place, value, failure)));
      assertThat(outcomes)
          .as("the receiver ends both")
          .containsExactly("0 null null", "0 null null");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.storeAll(keys, List.of(), (_, _, _) -> true))
          .withMessage("not as many values as keys: keys=4, values=0");
    }
  }

  private static String text(
      int place, @Nullable MemorySegment value, @Nullable RuntimeException failure) {
    return "%s %s %s"
        .formatted(
            place,
            value == null ? null : ByteArguments.text(value),
            failure == null ? null : failure.getClass().getSimpleName());
  }

  @Test
  void shouldLookUpAsManyAsHaveAMebibyte() {
    BatchSize size = new BatchSize();
    assertThat(size.lookups()).isEqualTo(16);
    size.found(16, 0);
    assertThat(size.lookups()).isEqualTo(32);
    size.found(1, 1);
    size.found(1, 1);
    assertThat(size.lookups()).isEqualTo(64);
    size.found(64, 64L * (480 << 10));
    assertThat(size.lookups()).isEqualTo(2);
    size.found(2, 200 << 10);
    assertThat(size.lookups()).isEqualTo(4);
    size.found(1, 16 << 20);
    assertThat(size.lookups()).isEqualTo(1);
    size.found(1, 100 << 10);
    size.found(2, 200 << 10);
    size.found(4, 400 << 10);
    size.found(8, 800 << 10);
    assertThat(size.lookups()).isEqualTo(10);
  }

  @Test
  void shouldFailWithAnUnknownOutcomeFirst() {
    BatchFailure none = new BatchFailure();
    assertThat(none.add(null)).isTrue();
    assertThatCode(none::check).doesNotThrowAnyException();
    RuntimeException full = new PoolFullException("full");
    RuntimeException unknown = new UnknownOutcomeException("unknown");
    RuntimeException stalled = new StalledException("stalled");
    BatchFailure some = new BatchFailure();
    assertThat(some.add(full)).isFalse();
    assertThat(some.add(unknown)).isFalse();
    assertThat(some.add(null)).isTrue();
    assertThat(some.add(stalled)).isFalse();
    assertThatThrownBy(some::check).isSameAs(unknown).hasSuppressedException(full);
    assertThat(unknown.getSuppressed()).containsExactly(full, stalled);
  }
}
