package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.PoolPart;
import pando.index.PoolSpace;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.OrcaOptions;

class ByteSpaceTest {
  private static final ByteOptions OPTIONS =
      ByteOptions.defaults()
          .withCacheBytes(1 << 20)
          .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  private static final int KEYS = 600;
  private static final int CHANGES = 3_000;

  private final Fabric fabric = Pools.open(2, 64 << 20, 7201);

  @AfterEach
  void close() {
    fabric.close();
  }

  private void check(PoolSpace space, ByteIndex index) {
    assertThat(space.problems()).isEmpty();
    assertThat(space.bytes())
        .isEqualTo(IntStream.range(0, fabric.memoryServers()).mapToLong(fabric::dramBytes).sum());
    assertThat(space.otherBytes()).as("%s", space).isZero();
    long waiting = bytes(space, "freed blobs, kept by sessions");
    assertThat(space.usedBytes() + waiting).isEqualTo(index.poolBytes());
  }

  private static long bytes(PoolSpace space, String prefix) {
    return space.parts().stream()
        .filter(part -> part.name().startsWith(prefix))
        .mapToLong(PoolPart::bytes)
        .sum();
  }

  private static void change(ByteSession session, SplittableRandom random) {
    for (int i = 0; i < CHANGES; i++) {
      MemorySegment key = MemorySegment.ofArray(("key " + random.nextInt(KEYS)).getBytes(UTF_8));
      if (random.nextInt(3) == 0) {
        session.remove(key);
      } else {
        session.put(key, MemorySegment.ofArray(new byte[random.nextInt(4_001)]));
      }
    }
  }

  @Test
  void shouldAddUpToTheByte() {
    SplittableRandom random = new SplittableRandom(Seeds.of(7202));
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      check(index.space(), index);
      for (int round = 0; round < 3; round++) {
        change(session, random);
        PoolSpace space = index.space();
        check(space, index);
        assertThat(bytes(space, "blocks of ")).isPositive();
        assertThat(bytes(space, "values of ")).isPositive();
        assertThat(space.used())
            .allSatisfy(part -> assertThat(part.held()).isLessThanOrEqualTo(part.room()));
      }
    }
    try (ByteIndex index = ByteIndex.open(fabric, OPTIONS);
        ByteSession session = index.session()) {
      PoolSpace opened = index.space();
      assertThat(opened.otherBytes()).isZero();
      change(session, random);
      PoolSpace changed = index.space();
      assertThat(changed.otherBytes()).isZero();
      assertThat(changed.bytes()).isEqualTo(opened.bytes());
    }
  }

  /** A value in parts is freed later than it is removed, also where its session does nothing. */
  @Test
  void shouldCountLongValuesThatWereRemoved() {
    MemorySegment key = MemorySegment.ofArray(new byte[1]);
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      session.store(key, MemorySegment.ofArray(new byte[3 * index.space.lengthInOnePlace()]));
      check(index.space(), index);
      session.store(key, MemorySegment.ofArray(new byte[2 * index.space.lengthInOnePlace()]));
      check(index.space(), index);
      session.discard(key);
      check(index.space(), index);
    }
  }

  /** What a session has replaced is freed by another thread while it still uses what it found. */
  @Test
  void shouldLeaveASessionWhatItHasFound() {
    MemorySegment replaced = MemorySegment.ofArray(new byte[] {1});
    MemorySegment key = MemorySegment.ofArray(new byte[] {2});
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      byte[] value = new byte[index.space.lengthInOnePlace()];
      new SplittableRandom(Seeds.of(7203)).nextBytes(value);
      session.store(key, MemorySegment.ofArray(value));
      for (Consumer<ByteIndex> rest :
          List.<Consumer<ByteIndex>>of(
              ByteIndex::giveMemoryBack, ByteIndex::giveFreePlacesBack, ByteIndex::space)) {
        session.store(replaced, MemorySegment.ofArray(new byte[2 * value.length]));
        session.store(replaced, MemorySegment.ofArray(new byte[1]));
        assertThat(session.get(key)).isTrue();
        rest.accept(index);
        assertThat(session.value().toArray(JAVA_BYTE)).isEqualTo(value);
        check(index.space(), index);
      }
    }
  }

  /** One session stores long values, another one replaces them while they wait. */
  @Test
  void shouldNotKeepValuesThatAnotherSessionHasStored() {
    MemorySegment key = MemorySegment.ofArray(new byte[1]);
    MemorySegment value = MemorySegment.ofArray(new byte[1_000]);
    try (ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession stores = index.session();
        ByteSession changes = index.session()) {
      long before = index.poolBytes();
      for (int i = 0; i < 500; i++) {
        stores.store(key, value);
        // of the length of a word: so the block stays as it is
        changes.store(key, MemorySegment.ofArray(new byte[Long.BYTES]));
      }
      assertThat(index.poolBytes() - before).isLessThan(10_000);
    }
  }

  @Test
  void shouldRefuseWhenClosed() {
    ByteIndex index = ByteIndex.create(fabric, OPTIONS);
    index.close();
    assertThatIllegalStateException().isThrownBy(index::space).withMessage("the index is closed");
  }
}
