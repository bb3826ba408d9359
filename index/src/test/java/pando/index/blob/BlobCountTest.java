package pando.index.blob;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.PoolPart;
import pando.index.PoolSpace;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Adds up the bytes of pools with values beside an index. */
class BlobCountTest {
  private static final int KEYS = 500;
  private static final int CHANGES = Seeds.count(300, 2_000);

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldAddUpToTheByte(SystemUnderTest system) {
    SplittableRandom random = new SplittableRandom(Seeds.of(7301));
    try (Fabric fabric = Pools.open(2, 32 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric);
        BlobSpace values = new BlobSpace(fabric);
        Session session = index.session();
        Blobs blobs = new Blobs(values)) {
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < CHANGES; i++) {
          change(session, blobs, random.nextInt(KEYS), random);
        }
        // Frees what waits, with the parts of long values.
        long word = blobs.store(0, MemorySegment.ofArray(new byte[8]), 0, 8);
        blobs.free(0, word);
        PoolSpace space = values.space(index);
        assertThat(space.otherBytes()).as("%s", space).isZero();
        assertThat(space.bytes())
            .isEqualTo(
                IntStream.range(0, fabric.memoryServers()).mapToLong(fabric::dramBytes).sum());
        long waiting =
            space.unused().stream()
                .filter(part -> part.name().equals("freed blobs, kept by sessions"))
                .mapToLong(PoolPart::bytes)
                .sum();
        assertThat(waiting).isEqualTo(64);
        assertThat(space.usedBytes() + waiting).isEqualTo(index.poolBytes() + values.bytesInUse());
      }
    }
  }

  private static void change(Session session, Blobs blobs, long key, SplittableRandom random) {
    if (random.nextInt(3) > 0) {
      // Chunks of 64 KiB: those above 8 KiB have several parts.
      MemorySegment value = MemorySegment.ofArray(new byte[random.nextInt(12_000)]);
      long word = blobs.store(key, value, 0, (int) value.byteSize());
      if (session.put(key, word)) {
        blobs.free(key, session.value());
      }
    } else if (session.remove(key)) {
      blobs.free(key, session.value());
    }
  }
}
