package pando.bench.trial;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import pando.client.ClientException;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.index.Session;
import pando.sim.Cluster;

/**
 * The clients by which one thread reaches a simulated cluster. It uses a few in turn, so that each
 * has the routes of when it was used last, which may be old.
 */
final class ClusterClient implements Supplier<Session>, AutoCloseable {
  private static final int CLIENTS_MAX = 4;

  /** An answer may take as long as the slowest operation of a compute server. */
  private static final ClientOptions OPTIONS =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(4))
          .withAnswerTimeout(Duration.ofHours(1));

  private final SimClientHost host;
  private final List<String> addresses;
  private final Deque<PandoClient> clients = new ArrayDeque<>();

  /** Creates it without a client. */
  ClusterClient(
      Cluster cluster, ClusterWatch watch, List<String> addresses, RandomGenerator random) {
    this.host = new SimClientHost(cluster, watch, random);
    this.addresses = addresses;
  }

  /** Connects one more client; returns whether a compute server has answered. */
  boolean connect() {
    try {
      clients.addLast(PandoClient.connect(addresses, OPTIONS, host));
      return true;
    } catch (ClientException nobodyAnswers) {
      return false;
    }
  }

  /** Opens a session of another client than the last one, if there are several. */
  @Override
  public Session get() {
    if (clients.size() == CLIENTS_MAX || !connect()) {
      clients.addLast(clients.removeFirst());
    }
    PandoClient client = clients.getLast();
    return client.servesByteStrings()
        ? LongsAsBytes.session(client.byteStrings().session())
        : client.session();
  }

  @Override
  public void close() {
    clients.forEach(PandoClient::close);
  }
}
