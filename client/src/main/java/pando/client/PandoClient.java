package pando.client;

import java.util.ArrayList;
import java.util.List;
import pando.client.wire.ClientFrame;
import pando.client.wire.StatusWord;
import pando.fabric.memory.StackRoom;
import pando.index.Metered;
import pando.index.bytes.ByteStrings;

/**
 * Connects to the compute servers of an index. It asks one of them which server serves which keys,
 * and sends each operation to the server of its key. It has one connection to each server.
 *
 * <pre>{@code
 * try (PandoClient client = PandoClient.connect("host:7480,host2:7480", ClientOptions.defaults());
 *     ClientSession session = client.session()) { // one for each thread
 *   session.put(1, 10);
 * }
 * }</pre>
 *
 * <p>Thread-safe; each thread has a {@link ClientSession} or a {@link ClientBatch} of its own.
 */
public final class PandoClient implements AutoCloseable {
  private final ClientContext context;

  private PandoClient(ClientContext context) {
    this.context = context;
  }

  /**
   * Connects to an index.
   *
   * @param addresses HOST:PORT of one or more of its compute servers, with commas between
   * @throws IllegalArgumentException if one is no address, or the authentication's files are of no
   *     use
   * @throws ClientException if none of them answers, accepts this client, or may be connected with
   *     so weak an authentication
   */
  public static PandoClient connect(String addresses, ClientOptions options) {
    List<String> seeds = Addresses.list(addresses);
    return connect(seeds, options, new TcpHost(options.authentication()));
  }

  /**
   * Connects to an index from another host, which is closed with the client.
   *
   * @param addresses of one or more of its compute servers, as the host knows them
   * @throws ClientException if none of them answers
   */
  public static PandoClient connect(
      List<String> addresses, ClientOptions options, ClientHost host) {
    ClientContext context = null;
    try {
      context = new ClientContext(List.copyOf(addresses), options, host);
      context.connect();
      return new PandoClient(context);
    } catch (RuntimeException | Error e) {
      if (context == null) {
        host.close();
      } else {
        context.close();
      }
      throw e;
    }
  }

  /** Opens a session for one thread. */
  public ClientSession session() {
    context.checkOpen();
    return new ClientSession(context);
  }

  /** Opens a batch for one thread. */
  public ClientBatch batch() {
    context.checkOpen();
    return new ClientBatch(context);
  }

  /**
   * Returns the byte strings that the compute servers serve. Closing them closes no connection.
   *
   * <p>Their sessions differ from others as {@link ClientSession}s do. {@link
   * pando.index.bytes.ByteSession#floor} and the like ask the next compute server if the first one
   * has no entry in its range: each answer is linearizable, the two together are not. Values have
   * up to 480 KiB. If a compute server's process has stored a longer one, {@code value()} and scans
   * that reach it throw {@link ClientException}; after a change that was done, {@code value()}
   * throws {@link pando.fabric.UnknownOutcomeException}.
   *
   * @throws IllegalStateException if they serve words
   * @throws pando.fabric.StalledException if none answers
   */
  public ByteStrings byteStrings() {
    context.checkOpen();
    Call status = readStatus();
    if (status.status[StatusWord.STRINGS] == 0) {
      throw AnswerFailures.words(status.server());
    }
    return new ClientStrings(
        context,
        Math.clamp(status.status[StatusWord.KEY_BYTES_MAX], 0, ClientFrame.KEY_BYTES_MAX),
        Math.clamp(status.status[StatusWord.VALUE_BYTES_MAX], 0, ClientFrame.VALUE_BYTES_MAX));
  }

  /**
   * Returns whether the compute servers serve byte strings, and not words.
   *
   * @throws pando.fabric.StalledException if none answers
   */
  public boolean servesByteStrings() {
    context.checkOpen();
    return readStatus().status[StatusWord.STRINGS] != 0;
  }

  private Call readStatus() {
    Call call = new Call();
    call.begin(ClientFrame.STATUS);
    call.key = Long.MIN_VALUE;
    new Dispatch(context).run(call);
    return call;
  }

  /** Returns what can be watched of the index from here. It has no fabric and no verbs. */
  public Metered watched() {
    return new MeteredClient(context);
  }

  /** Returns who serves which keys, as this client knows it; may be old. */
  public Routes routes() {
    return context.routes();
  }

  /** Returns how each compute server is that this client knows and that answers. */
  public List<ServerStatus> status() {
    List<ServerStatus> all = new ArrayList<>();
    for (Connection connection : context.table().servers()) {
      Call call = new Call();
      call.begin(ClientFrame.STATUS);
      if (connection.ask(call)) {
        all.add(
            new ServerStatus(
                connection.address(),
                call.text,
                call.epoch,
                call.status[StatusWord.CONNECTIONS],
                call.status[StatusWord.ANSWERED],
                call.status[StatusWord.FAILED]));
      }
    }
    return all;
  }

  /**
   * Has each compute server write what it has changed to the pool. On return all is there that was
   * acknowledged before the call, also where a compute server is lost later.
   *
   * @throws pando.fabric.UnknownOutcomeException if one was lost meanwhile, or may have been: what
   *     it had not written is lost
   * @throws pando.fabric.StalledException if one does not answer
   * @throws pando.fabric.PandoException if one could not write all
   */
  public void flush() {
    context.checkOpen();
    new ServersFlush(context, servesByteStrings()).run();
  }

  /** Returns whether it is closed. */
  public boolean isClosed() {
    return context.isClosed();
  }

  /**
   * Closes all connections. Operations that are under way in other threads fail, changes with an
   * unknown outcome; later ones throw {@link IllegalStateException}. A second call does nothing.
   */
  @Override
  public void close() {
    StackRoom.WORDS.check();
    context.close();
  }
}
