package pando.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.Routes;
import pando.index.BoundKey;
import pando.index.Partitioning;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.KeyBounds;

/** Ranges of byte strings, which go from one compute server to another. */
@Timeout(60)
class StringRangesTest {
  private static final ByteOptions OPTIONS =
      ByteOptions.defaults().withCacheBytes(1 << 20).withBlockBytes(512, 64);

  private final TestCluster cluster = new TestCluster(OPTIONS);
  private final TreeMap<String, String> model = new TreeMap<>();

  @AfterEach
  void end() {
    cluster.close();
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private static BoundKey key(String text) {
    return BoundKey.of(bytes(text));
  }

  private Routes routes() {
    return cluster.state.routes().orElseThrow();
  }

  private List<Integer> owners() {
    return routes().routes().stream().map(Routes.Route::owner).toList();
  }

  private List<String> fences() {
    return routes().routes().stream()
        .map(route -> UTF_8.decode(route.fence().asByteBuffer()).toString())
        .toList();
  }

  private TestCluster.Server owner(String key) {
    Partitioning table = routes().partitioning();
    return cluster.server(table.ownerOfRange(KeyBounds.rangeOfKey(table, bytes(key))));
  }

  private void store(String key, String value) {
    try (ByteSession session = owner(key).strings().session()) {
      session.store(bytes(key), bytes(value));
    }
    model.put(key, value);
  }

  /** Stores entries whose keys begin with each letter. */
  private void fill(String value) {
    for (char letter = 'a'; letter <= 'z'; letter++) {
      for (int i = 0; i < 10; i++) {
        store(letter + "/" + i, value + i);
      }
    }
  }

  private void assertEntries() {
    TreeMap<String, String> found = new TreeMap<>();
    for (String key : model.keySet()) {
      try (ByteSession session = owner(key).strings().session()) {
        if (session.get(bytes(key))) {
          found.put(key, UTF_8.decode(session.value().asByteBuffer()).toString());
        }
      }
    }
    assertThat(found).isEqualTo(model);
  }

  private void start(int number, int ranges) {
    cluster.start(number);
    cluster.runUntil(() -> cluster.state.routes().isPresent() && owners().size() == ranges);
    cluster.settle();
  }

  /** Starts a compute server that does not ask for a range, as it is to get one. */
  private void startReceiver(int number, Change change) {
    TestCluster.Server server = cluster.start(number);
    int id = cluster.state.ask(change);
    server.agent.execute();
    cluster.runUntil(() -> cluster.state.change(id).orElseThrow().isOver());
    assertThat(cluster.state.change(id).orElseThrow().state()).isEqualTo(Change.State.DONE);
    cluster.settle();
  }

  @Test
  void shouldMoveSplitAndTakeOver() {
    start(0, 1);
    fill("first");
    start(1, 2);
    start(2, 3);
    assertEntries();
    assertThat(cluster.ask(Change.move(owners().get(1), key("h"))).state())
        .isEqualTo(Change.State.DONE);
    assertThat(cluster.ask(Change.move(owners().get(2), key("pie/10"))).state())
        .isEqualTo(Change.State.DONE);
    assertThat(fences()).containsExactly("", "h", "pie/10");
    assertEntries();
    int middle = owners().get(1);
    startReceiver(3, Change.split(middle, key("m/5 "), 3));
    assertThat(fences()).containsExactly("", "h", "m/5 ", "pie/10");
    assertThat(owners().get(2)).isEqualTo(3);
    fill("second");
    assertEntries();
    cluster.server(middle).index.flush();
    cluster.kill(middle);
    cluster.pass(TestCluster.TIMEOUT);
    cluster.runUntil(() -> owners().size() == 3);
    cluster.settle();
    assertThat(owners()).doesNotContain(middle);
    assertEntries();
    fill("third");
    assertEntries();
    start(middle, 4);
    assertEntries();
  }

  @Test
  void shouldMoveABoundaryToALongKey() {
    start(0, 1);
    start(1, 2);
    fill("value");
    String longest = "l".repeat(65_535);
    assertThat(cluster.ask(Change.move(1, key(longest))).state()).isEqualTo(Change.State.DONE);
    assertThat(fences()).containsExactly("", longest);
    assertEntries();
    assertThat(cluster.ask(Change.move(1, key(longest))).state()).isEqualTo(Change.State.DONE);
  }

  @Test
  void shouldRefuseKeysOfTheOtherKind() {
    start(0, 1);
    start(1, 2);
    Change number = cluster.ask(Change.move(1, 5));
    assertThat(number.state()).isEqualTo(Change.State.FAILED);
    assertThat(number.why())
        .contains("has byte strings, so ask with one in place of a number: key=5");
    try (TestCluster words = new TestCluster()) {
      words.start(0);
      words.settle();
      Change string = words.ask(Change.split(0, key("m"), 1));
      assertThat(string.state()).isEqualTo(Change.State.FAILED);
      assertThat(string.why()).contains("ask with a number in place of a byte string: key=6d");
    }
  }
}
