package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Lease;
import pando.index.Pools;

/** Byte strings of a compute server whose lease is not renewed for a while, and then is. */
class ByteLeaseTest {
  private static final MemorySegment KEY = MemorySegment.ofArray(new byte[] {1});
  private static final MemorySegment ABSENT = MemorySegment.ofArray(new byte[] {2});
  private static final MemorySegment NONE = MemorySegment.ofArray(new byte[0]);
  private static final MemorySegment VALUE = MemorySegment.ofArray(new byte[100]);
  private static final MemorySegment OTHER = MemorySegment.ofArray(new byte[101]);

  private final Fabric fabric = Pools.open(1, 16 << 20, 1);
  private final ByteIndex index =
      ByteIndex.create(fabric, ByteOptions.defaults().withCacheBytes(1 << 20));
  private final Switch lease = new Switch();

  private static final class Switch implements Lease {
    private boolean held = true;
    private int asked;

    @Override
    public boolean isHeld() {
      asked++;
      return held;
    }

    @Override
    public void await() {
      if (!isHeld()) {
        throw new StalledException("not renewed");
      }
    }
  }

  @AfterEach
  void close() {
    lease.held = true;
    index.close();
    fabric.close();
  }

  private ByteSession leased() {
    index.partitions().orElseThrow().answerWhile(lease);
    return index.session();
  }

  static Stream<Named<Consumer<ByteSession>>> questions() {
    return Stream.of(
        Named.of("get", session -> session.get(KEY)),
        Named.of("get of an absent one", session -> session.get(ABSENT)),
        Named.of("floor", session -> session.floor(KEY)),
        Named.of("ceiling", session -> session.ceiling(KEY)),
        Named.of("lower", session -> session.lower(KEY)),
        Named.of("lower than all", session -> session.lower(NONE)),
        Named.of("higher", session -> session.higher(KEY)),
        Named.of("first", ByteSession::first),
        Named.of("last", ByteSession::last),
        Named.of("scan", session -> session.scan(KEY, null, 9, ByteLeaseTest::unseen)),
        Named.of("scan of nothing", session -> session.scan(KEY, KEY, 9, (_, _) -> true)),
        Named.of("scanDown", session -> session.scanDown(null, KEY, 9, ByteLeaseTest::unseen)));
  }

  private static boolean unseen(MemorySegment key, MemorySegment value) {
    throw new AssertionError("visited without a lease: key=" + key + ", value=" + value);
  }

  static Stream<Named<Consumer<ByteSession>>> changes() {
    return Stream.of(
        Named.of("put", session -> session.put(KEY, OTHER)),
        Named.of("put of a new key", session -> session.put(ABSENT, OTHER)),
        Named.of("putIfAbsent", session -> session.putIfAbsent(KEY, VALUE)),
        Named.of("putIfAbsent of a new key", session -> session.putIfAbsent(ABSENT, VALUE)),
        Named.of("update", session -> session.update(KEY, OTHER)),
        Named.of("update of none", session -> session.update(ABSENT, OTHER)),
        Named.of("replace", session -> session.replace(KEY, VALUE, OTHER)),
        Named.of("remove", session -> session.remove(KEY)),
        Named.of("remove expected", session -> session.remove(KEY, VALUE)),
        Named.of("store", session -> session.store(KEY, OTHER)),
        Named.of("discard", session -> session.discard(KEY)));
  }

  @ParameterizedTest
  @MethodSource("questions")
  void shouldAnswerNoQuestionWithoutTheLease(Consumer<ByteSession> question) {
    try (ByteSession session = leased()) {
      session.put(KEY, VALUE);
      lease.held = false;
      assertThatExceptionOfType(StalledException.class).isThrownBy(() -> question.accept(session));
    }
  }

  /** What a change did is done, in the cache; only its answer is not given. */
  @ParameterizedTest
  @MethodSource("changes")
  void shouldKeepNoValueThatIsInNoEntry(Consumer<ByteSession> change) {
    try (ByteSession session = leased()) {
      session.put(KEY, VALUE);
      for (int i = 0; i < 3; i++) {
        lease.held = false;
        assertThatExceptionOfType(UnknownOutcomeException.class)
            .isThrownBy(() -> change.accept(session));
        lease.held = true;
        session.discard(ABSENT);
        session.put(KEY, VALUE);
      }
      session.discard(KEY);
    }
    // What a session has yet to free, it frees where it ends.
    assertThat(index.space().otherBytes()).isZero();
  }

  @Test
  void shouldAskForTheLeaseOnceForAnOperation() {
    try (ByteSession session = leased()) {
      session.putIfAbsent(KEY, VALUE);
      session.replace(KEY, VALUE, OTHER);
      session.get(KEY);
      session.remove(KEY, OTHER);
      assertThat(lease.asked).isEqualTo(4);
    }
  }
}
