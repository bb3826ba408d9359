package pando.cluster.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import pando.cluster.ClusterAddress;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Entry;
import pando.cluster.Folders;
import pando.cluster.Membership;
import pando.cluster.SessionLostException;
import pando.cluster.Write;

/**
 * A session with ZooKeeper. Entries are nodes below {@code /pando/NAME}, what is announced is
 * ephemeral, and a commit is a multi-operation. A watch covers all nodes, so what was read is asked
 * for again only once it has changed.
 *
 * <p>Its client finds another server by itself where one is lost, within the same session. Only
 * ZooKeeper says that a session has ended: as long as none of its servers answers, no session ends,
 * as then nobody else learns of anything, either. The client, though, gives up after four thirds of
 * the session's time-out in which nobody has answered. Then another one resumes the session, and
 * learns from ZooKeeper what became of it.
 */
public final class ZooKeeperMembership implements Membership {
  private static final String ROOT = "/pando";
  private static final Duration CONNECT_MIN = Duration.ofSeconds(15);
  private static final int CLOSE_MILLIS = 3_000;

  /** No list of {@link List#of}, as ZooKeeper asks whether it contains null. */
  private static final List<ACL> EVERYBODY =
      Collections.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));

  private final ClusterAddress address;
  private final String root;
  private final int timeoutMillis;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  private final CountDownLatch connected = new CountDownLatch(1);
  private final KnownEntries known = new KnownEntries();
  private volatile ZooKeeper client;
  private volatile Status status = Status.SUSPENDED;

  private ZooKeeperMembership(ClusterAddress address, Duration sessionTimeout) throws IOException {
    this.address = address;
    this.root = ROOT + "/" + address.name();
    this.timeoutMillis = (int) sessionTimeout.toMillis();
    this.client =
        new ZooKeeper(
            address.coordinator(), timeoutMillis, new Hearing(false), false, new Hosts(address));
  }

  /**
   * ZooKeeper's servers. Where none answers, they are tried again sooner than by ZooKeeper's client
   * alone, which waits for up to two seconds: a short session would end before it is back.
   *
   * <p>A server that starts may take a connection and never answer (ZOOKEEPER-5051). The client
   * gives it up after the session's time-out divided by the number of servers: with one server the
   * session would end first. So this says that there are more.
   */
  private static final class Hosts implements HostProvider {
    private static final long PAUSE_MILLIS_MAX = 100;
    private static final int ATTEMPTS_IN_A_SESSION = 4;

    private final StaticHostProvider all;

    Hosts(ClusterAddress address) {
      this.all =
          new StaticHostProvider(
              new ConnectStringParser(address.coordinator()).getServerAddresses());
    }

    @Override
    public int size() {
      return ATTEMPTS_IN_A_SESSION * all.size();
    }

    @Override
    public InetSocketAddress next(long pauseMillis) {
      return all.next(Math.min(pauseMillis, PAUSE_MILLIS_MAX));
    }

    @Override
    public void onConnected() {
      all.onConnected();
    }

    @Override
    public boolean updateServerList(
        Collection<InetSocketAddress> servers, InetSocketAddress current) {
      return all.updateServerList(servers, current);
    }
  }

  /** Hears the events of one client. For the one thread that calls it. */
  private final class Hearing implements Watcher {
    private final long since = System.nanoTime();

    /** Whether it has yet to learn what became of a session, and to watch. */
    private boolean resumes;

    /** Whether the client has ended, which it may say twice. */
    private boolean over;

    Hearing(boolean resumes) {
      this.resumes = resumes;
    }

    @Override
    public void process(WatchedEvent event) {
      if (over) {
        return;
      }
      known.forget(event);
      switch (event.getState()) {
        case SyncConnected, SaslAuthenticated -> connect();
        case Expired -> expire();
        case Closed, AuthFailed -> become(Status.LOST);
        default -> become(Status.SUSPENDED);
      }
      watchers.forEach(Runnable::run);
    }

    private void connect() {
      if (resumes) {
        catchUp();
      } else {
        become(Status.CONNECTED);
        connected.countDown();
      }
    }

    /**
     * A client that resumes a session knows nothing of what the one before has seen. So its server
     * catches up first; where that is cut off, the next connection begins anew.
     */
    private void catchUp() {
      current().sync(root, (result, _, _) -> ifDone(result, this::watchAgain), null);
    }

    private void watchAgain() {
      current()
          .addWatch(
              root,
              AddWatchMode.PERSISTENT_RECURSIVE,
              (result, _, _) ->
                  ifDone(
                      result,
                      () -> {
                        resumes = false;
                        become(Status.CONNECTED);
                        // What has changed meanwhile.
                        watchers.forEach(Runnable::run);
                      }),
              null);
    }

    private void ifDone(int result, Runnable next) {
      if (!over && result == Code.OK.intValue()) {
        next.run();
      }
    }

    /**
     * This comes where ZooKeeper has ended the session, and where the client has given up, after
     * four thirds of the time-out. A client that resumes a session and hears it within one time-out
     * cannot have given up: the session has ended.
     */
    private void expire() {
      over = true;
      boolean isKnown = resumes && System.nanoTime() - since < timeoutMillis * 1_000_000L;
      become(isKnown ? Status.LOST : Status.SUSPENDED);
      resume();
    }
  }

  /** One that has ended stays so. */
  private synchronized void become(Status next) {
    if (status != Status.LOST) {
      status = next;
    }
  }

  /** Returns the client; the threads of one that {@link #resume} makes wait until it is set. */
  private synchronized ZooKeeper current() {
    return client;
  }

  /** Opens another client for the session, if that has not ended. */
  private synchronized void resume() {
    if (status == Status.LOST) {
      return;
    }
    ZooKeeper before = client;
    try {
      client =
          new ZooKeeper(
              address.coordinator(),
              timeoutMillis,
              new Hearing(true),
              before.getSessionId(),
              before.getSessionPasswd(),
              false,
              new Hosts(address));
    } catch (IOException e) {
      QuietLog.LOG.log(Level.SEVERE, "the session cannot be resumed: address=" + address, e);
      status = Status.LOST;
    }
  }

  /**
   * Opens a session. Sets the log level of ZooKeeper's client to {@code SEVERE} in this JVM.
   *
   * @param address of ZooKeeper's servers, and the cluster's name
   * @param sessionTimeout after how long without a sign of life the session ends; ZooKeeper has
   *     bounds for it
   * @throws CoordinatorLostException if no server answers
   */
  public static ZooKeeperMembership connect(ClusterAddress address, Duration sessionTimeout) {
    boolean isLong = sessionTimeout.compareTo(CONNECT_MIN) > 0;
    return connect(address, sessionTimeout, isLong ? sessionTimeout : CONNECT_MIN);
  }

  /** Opens a session as {@link #connect(ClusterAddress, Duration)} does, within a time. */
  static ZooKeeperMembership connect(
      ClusterAddress address, Duration sessionTimeout, Duration patience) {
    QuietLog.use();
    ZooKeeperMembership membership;
    try {
      membership = new ZooKeeperMembership(address, sessionTimeout);
    } catch (IOException e) {
      throw new CoordinatorLostException("no ZooKeeper answers: address=" + address, e);
    }
    boolean ready = false;
    try {
      membership.begin(patience);
      ready = true;
      return membership;
    } finally {
      if (!ready) {
        membership.close();
      }
    }
  }

  private void begin(Duration patience) {
    ask(
        "connect to " + address,
        () -> {
          if (!connected.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new CoordinatorLostException("no ZooKeeper answers: address=" + address);
          }
          makeFolder(ROOT);
          makeFolder(root);
          for (String folder : Folders.ALL) {
            makeFolder(path(folder));
          }
          client.addWatch(root, AddWatchMode.PERSISTENT_RECURSIVE);
          return true;
        });
  }

  private void makeFolder(String path) throws KeeperException, InterruptedException {
    try {
      client.create(path, new byte[0], EVERYBODY, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException e) {
      QuietLog.LOG.finest(() -> "is there: " + path);
    }
  }

  private String path(String path) {
    return root + "/" + path;
  }

  /** What the client is asked for. */
  private interface Question<T> {
    T ask() throws KeeperException, ExecutionException, InterruptedException;
  }

  private <T> T ask(String what, Question<T> question) {
    if (status == Status.LOST) {
      throw new SessionLostException("the session with ZooKeeper has ended: asked=" + what);
    }
    try {
      return question.ask();
    } catch (KeeperException | ExecutionException e) {
      // Also where a client says that the session has ended: another one looks whether it has.
      throw new CoordinatorLostException("ZooKeeper does not answer: asked=" + what, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinatorLostException("interrupted while ZooKeeper was asked: " + what, e);
    }
  }

  // The client's event thread receives all answers, so each comes after the events before it.

  @Override
  public Optional<Entry> read(String path) {
    String node = path(path);
    KnownEntries.Known seen = status == Status.CONNECTED ? known.entry(node) : null;
    return seen == null ? ask("read " + path, () -> readNode(node).get()) : seen.entry();
  }

  private CompletableFuture<Optional<Entry>> readNode(String node) {
    CompletableFuture<Optional<Entry>> answer = new CompletableFuture<>();
    client.getData(
        node,
        false,
        (result, _, _, bytes, stat) ->
            complete(
                answer,
                () ->
                    switch (Code.get(result)) {
                      case OK -> learn(node, entry(bytes, stat));
                      case NONODE -> learn(node, Optional.empty());
                      default -> throw failure(result);
                    }),
        null);
    return answer;
  }

  private static Optional<Entry> entry(byte @Nullable [] bytes, Stat stat) {
    return Optional.of(new Entry(bytes == null ? new byte[0] : bytes, stat.getVersion()));
  }

  private Optional<Entry> learn(String node, Optional<Entry> entry) {
    if (status == Status.CONNECTED) {
      known.learnEntry(node, entry);
    }
    return entry;
  }

  @Override
  public List<String> list(String folder) {
    String node = path(folder);
    List<String> seen = status == Status.CONNECTED ? known.names(node) : null;
    return seen == null ? ask("list " + folder, () -> listNode(node).get()) : seen;
  }

  private CompletableFuture<List<String>> listNode(String node) {
    CompletableFuture<List<String>> answer = new CompletableFuture<>();
    client.getChildren(
        node,
        false,
        (result, _, _, names) ->
            complete(
                answer,
                () ->
                    switch (Code.get(result)) {
                      case OK -> learn(node, names.stream().sorted().toList());
                      case NONODE -> learn(node, List.<String>of());
                      default -> throw failure(result);
                    }),
        null);
    return answer;
  }

  private List<String> learn(String node, List<String> names) {
    if (status == Status.CONNECTED) {
      known.learnNames(node, names);
    }
    return names;
  }

  /** Completes an answer whatever happens, also in an Error: a thread waits for it. */
  private static <T> void complete(CompletableFuture<T> answer, Callable<T> result) {
    try {
      answer.complete(result.call());
    } catch (Throwable e) {
      answer.completeExceptionally(e);
    }
  }

  private static KeeperException failure(int result) {
    return KeeperException.create(Code.get(result));
  }

  @Override
  public boolean commit(List<Write> writes) {
    Write.check(writes);
    List<Op> operations = writes.stream().map(this::operation).toList();
    return ask(
        "commit " + writes.stream().map(Write::path).toList(), () -> commitAll(operations).get());
  }

  private CompletableFuture<Boolean> commitAll(List<Op> operations) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    client.multi(
        operations,
        (result, _, _, _) ->
            complete(
                answer,
                () ->
                    switch (Code.get(result)) {
                      case OK -> true;
                      case NODEEXISTS, NONODE, BADVERSION -> false;
                      default -> throw failure(result);
                    }),
        null);
    return answer;
  }

  private Op operation(Write write) {
    String path = path(write.path());
    return switch (write) {
      case Write.Create create -> Op.create(path, create.bytes(), EVERYBODY, CreateMode.PERSISTENT);
      case Write.Announce announce ->
          Op.create(path, announce.bytes(), EVERYBODY, CreateMode.EPHEMERAL);
      case Write.Set set -> Op.setData(path, set.bytes(), set.version());
      case Write.Delete delete -> Op.delete(path, delete.version());
      case Write.Check check -> Op.check(path, check.version());
    };
  }

  @Override
  public void watch(Runnable onChange) {
    watchers.add(onChange);
  }

  @Override
  public void unwatch(Runnable onChange) {
    watchers.remove(onChange);
  }

  @Override
  public Status status() {
    return status;
  }

  /** Returns the client, for tests. */
  ZooKeeper client() {
    return client;
  }

  @Override
  public void close() {
    become(Status.LOST);
    try {
      client.close(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
