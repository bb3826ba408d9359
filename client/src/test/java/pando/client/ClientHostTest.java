package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import pando.client.server.FrameLine;
import pando.client.server.FrameService;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** A client on a host whose time passes only in pauses, at a compute server without sockets. */
class ClientHostTest {
  private static final String ADDRESS = "compute:1";

  private final List<Long> pauses = new ArrayList<>();
  private Fabric fabric;
  private RangeIndex index;
  private FrameService door;
  private long nanos;

  /** Whether the compute server says goodbye to each request. */
  private boolean isClosed;

  /** Whether connections are cut with the next request; once it was carried out, or before. */
  private boolean cutsBehind;

  private boolean cutsBefore;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 16 << 20, 1);
    index = SystemUnderTest.DEX.tiny(1).create(fabric);
    door = new FrameService(index, Routes::alone);
  }

  @AfterEach
  void close() {
    door.close();
    index.close();
    fabric.close();
  }

  private PandoClient connect() {
    ClientOptions options = ClientOptions.defaults().withPatience(Duration.ofMillis(200));
    return PandoClient.connect(List.of(ADDRESS), options, new Host());
  }

  @Test
  void shouldPauseLongerEachTimeAndGiveUpAfterItsPatience() {
    try (PandoClient client = connect();
        Session session = client.session()) {
      isClosed = true;
      assertThatThrownBy(() -> session.put(1, 1))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("key=1, attempts=9, milliseconds=254")
          .hasMessageContaining("the compute server closes");
      assertThat(pauses.stream().map(TimeUnit.NANOSECONDS::toMillis))
          .containsExactly(2L, 4L, 8L, 16L, 32L, 64L, 64L, 64L);
      isClosed = false;
      assertThat(session.get(1)).isFalse();
    }
  }

  @Test
  void shouldReadAgainAndNotChangeAgainWhereItIsCut() {
    try (PandoClient client = connect();
        Session session = client.session()) {
      cutsBehind = true;
      assertThatThrownBy(() -> session.put(1, 1)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(session.get(1)).isTrue();
      cutsBefore = true;
      assertThatThrownBy(() -> session.put(1, 2)).isInstanceOf(UnknownOutcomeException.class);
      cutsBefore = true;
      assertThat(session.get(1)).isTrue();
      assertThat(session.value()).isEqualTo(1);
      assertThat(pauses).isEmpty();
    }
  }

  private final class Host implements ClientHost {
    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void pause(long duration) {
      pauses.add(duration);
      nanos += duration;
    }

    @Override
    public long random() {
      return 1;
    }

    @Override
    public Line line(String address) {
      assertThat(address).isEqualTo(ADDRESS);
      return new DoorLine();
    }

    @Override
    public void close() {}
  }

  private final class DoorLine extends FrameLine {
    @Override
    public void await(long nanosMax) throws IOException {
      byte[] asked = takeRequests();
      if (!cutsBefore) {
        addResponses(isClosed ? FrameService.goodbye() : door.serve(asked, key -> {}));
      }
      if (cutsBefore || cutsBehind) {
        cut();
      }
      cutsBefore = false;
      cutsBehind = false;
    }
  }
}
