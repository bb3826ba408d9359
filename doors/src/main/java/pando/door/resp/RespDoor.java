package pando.door.resp;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.LastError;
import pando.index.Metered;
import pando.index.Meters;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteStrings;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;

/**
 * Serves byte strings to clients of Redis, by RESP2 and RESP3. It has strings, commands of its own
 * for keys in order, and, if it has the index to itself, sorted sets of equal scores. The
 * documentation, {@code docs/resp.md}, lists commands, limits, and what is refused.
 *
 * <p>Each event loop has a session, and runs the operations of its connections one by one, or over
 * a network some of a connection together.
 *
 * <p>Thread-safe.
 */
public final class RespDoor implements Metered, AutoCloseable {
  private static final int BACKLOG = 1024;
  private static final long CLOSE_SECONDS_MAX = 5;

  /** Bytes of a read, where requests that one read brings go together. */
  private static final int READ_BYTES_MIN = 16 << 10;

  private static final int READ_BYTES_MAX = 64 << 10;

  private final ByteStrings strings;
  private final Door door;
  private final DoorMeters meters;
  private final EventLoopGroup group;
  private final Map<EventLoop, RespLane> lanes = new ConcurrentHashMap<>();
  private final Map<Channel, RespConnection> connections = new ConcurrentHashMap<>();
  private final ExpirySweeper sweeper;
  private final @Nullable Channel listening;

  private RespDoor(Keyspace keyspace, RespOptions options) throws IOException {
    SslContext tls = options.tls() == null ? null : context(options.tls());
    this.strings = keyspace.strings();
    this.door = new Door(keyspace, options);
    this.meters = new DoorMeters(door);
    this.sweeper = new ExpirySweeper(door);
    this.group =
        new MultiThreadIoEventLoopGroup(
            options.eventLoops(),
            new DefaultThreadFactory("pando-resp"),
            NioIoHandler.newFactory());
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    welcome(channel, tls);
                  }
                });
    if (door.keyspace().goesTogether()) {
      // Else reads would be as short as those before, and what goes together, too.
      bootstrap.childOption(
          ChannelOption.RECVBUF_ALLOCATOR,
          new AdaptiveRecvByteBufAllocator(READ_BYTES_MIN, READ_BYTES_MIN, READ_BYTES_MAX));
    }
    ChannelFuture bound = bootstrap.bind(options.address()).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      listening = null;
      close();
      Throwable cause = bound.cause();
      BindException failure =
          new BindException(
              "cannot listen: address="
                  + AddressText.text(options.address())
                  + ", "
                  + (cause == null ? "interrupted" : cause.getMessage()));
      failure.initCause(cause);
      throw failure;
    }
    listening = bound.channel();
    door.setPort(address().getPort());
    sweeper.start(group);
  }

  /**
   * Serves an index, which nothing else may use, until this is closed.
   *
   * @param index with nothing in it but what a door has stored; stays open when this is closed
   * @throws IllegalArgumentException if the address is beyond the loopback interface, there is no
   *     password, and the options do not allow that
   * @throws IllegalStateException if the index has keys that no door has stored
   * @throws BindException if the address is taken or may not be used
   * @throws IOException if the keys of encrypted connections cannot be read
   */
  public static RespDoor open(ByteIndex index, RespOptions options) throws IOException {
    return open(new OwnKeyspace(index, index), options);
  }

  /**
   * Serves byte strings of a data folder, which nothing else may use, until this is closed. All
   * that clients are told is in the log of the folder, and on the disk if its {@link
   * pando.journal.SyncPolicy} says so; no event loop waits for the disk.
   *
   * @param strings with nothing in them but what a door has stored; stay open when this is closed
   * @throws IllegalArgumentException if the address is beyond the loopback interface, there is no
   *     password, and the options do not allow that
   * @throws DataFolderException if there are keys that no door has stored
   * @throws BindException if the address is taken or may not be used
   * @throws IOException if the keys of encrypted connections cannot be read
   */
  public static RespDoor open(DurableStrings strings, RespOptions options) throws IOException {
    checkAddress(options);
    return open(keyspace(strings), options);
  }

  /** Takes the keys of a folder, and marks it as one of doors, so that maps leave it alone. */
  private static OwnKeyspace keyspace(DurableStrings strings) {
    DataFolder folder = strings.folder();
    String codecs = folder.codecs();
    if (!codecs.isEmpty() && !codecs.equals(DurableStrings.CODECS_OF_DOOR)) {
      throw ofOthers(folder, "codecs=" + codecs, null);
    }
    OwnKeyspace keyspace;
    try {
      keyspace = new OwnKeyspace(strings, strings.index());
    } catch (IllegalStateException e) {
      throw ofOthers(folder, "cause=" + e.getMessage(), e);
    }
    if (codecs.isEmpty()) {
      folder.setCodecs(DurableStrings.CODECS_OF_DOOR);
    }
    return keyspace;
  }

  private static DataFolderException ofOthers(
      DataFolder folder, String why, @Nullable Throwable cause) {
    return new DataFolderException(
        "the folder has keys that no door has stored, such as those of maps; serve another one:"
            + " folder=%s, %s".formatted(folder, why),
        cause);
  }

  /**
   * Serves byte strings that others change at the same time: doors of this process or others, maps,
   * and sessions. All of them see the same entries, as keys and strings are stored as clients give
   * them. There is one database, and there are no sets.
   *
   * <p>An operation that goes over a network blocks its event loop as long as it takes: with {@link
   * RespOptions#EVENT_LOOPS_SHARED} event loops or more, others go on. If an operation fails, the
   * client gets an error, and its connection stays.
   *
   * @param strings stay open when this is closed
   * @throws IllegalArgumentException if the address is beyond the loopback interface, there is no
   *     password, and the options do not allow that
   * @throws BindException if the address is taken or may not be used
   * @throws IOException if the keys of encrypted connections cannot be read
   */
  public static RespDoor openShared(ByteStrings strings, RespOptions options) throws IOException {
    return open(new SharedKeyspace(strings), options);
  }

  static RespDoor open(Keyspace keyspace, RespOptions options) throws IOException {
    checkAddress(options);
    return new RespDoor(keyspace, options);
  }

  private static void checkAddress(RespOptions options) throws IOException {
    InetSocketAddress address = options.address();
    if (address.isUnresolved()) {
      throw new IOException("cannot listen: no such address: " + address.getHostString());
    }
    if (!address.getAddress().isLoopbackAddress()
        && options.password() == null
        && !options.open()) {
      throw new IllegalArgumentException(
          "beyond the loopback interface a password is needed: address="
              + AddressText.text(address));
    }
  }

  private static SslContext context(RespOptions.Tls tls) throws IOException {
    try {
      return SslContextBuilder.forServer(tls.certificates().toFile(), tls.key().toFile()).build();
    } catch (IOException | IllegalArgumentException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(
          "cannot read the certificates or the key (PEM, PKCS #8): certificates="
              + tls.certificates()
              + ", key="
              + tls.key()
              + ", "
              + cause.getMessage(),
          e);
    }
  }

  /** Adds a connection; in its event loop. */
  private void welcome(Channel channel, @Nullable SslContext tls) {
    RespLane lane = lanes.computeIfAbsent(channel.eventLoop(), _ -> RespLane.ofEventLoop(door));
    RespClient client =
        new RespClient(
            door.clients().newId(),
            channel.remoteAddress(),
            channel.localAddress(),
            door.password() != null,
            () -> {
              ChannelFuture _ = channel.close();
            });
    if (tls != null) {
      channel.pipeline().addLast(tls.newHandler(channel.alloc()));
    }
    if (!door.clients().add(client)) {
      byte[] full = "-ERR max number of clients reached\r\n".getBytes(StandardCharsets.UTF_8);
      channel
          .writeAndFlush(channel.alloc().buffer(full.length).writeBytes(full))
          .addListener(ChannelFutureListener.CLOSE);
      return;
    }
    RespConnection connection = new RespConnection(lane, client);
    connections.put(channel, connection);
    channel.closeFuture().addListener(_ -> connections.remove(channel));
    channel.pipeline().addLast(connection);
    if (door.isClosing()) {
      connection.stop();
    }
  }

  /** Returns where clients connect to. */
  public InetSocketAddress address() {
    Channel channel = listening;
    if (channel == null) {
      throw new IllegalStateException("the door did not open");
    }
    return (InetSocketAddress) channel.localAddress();
  }

  /** Returns the number of clients that are connected. */
  public int clients() {
    return door.clients().count();
  }

  /** Returns the bytes that unfinished requests, unread replies and cursors take. */
  public long waitingBytes() {
    return door.waiting().bytes();
  }

  /** Returns the name of the byte strings that are served. */
  @Override
  public String name() {
    return strings.name();
  }

  @Override
  public Fabric fabric() {
    return strings.fabric();
  }

  /** Returns the verbs of the byte strings, which others may use as well. */
  @Override
  public VerbCounters verbs() {
    return strings.verbs();
  }

  /** Returns whether this closes or has closed, or its byte strings have. */
  @Override
  public boolean isClosed() {
    return door.isClosing() || strings.isClosed();
  }

  /** Returns the code of the last error that a client got, and the command that it sent. */
  @Override
  public Optional<LastError> lastError() {
    return door.lastError();
  }

  @Override
  public void meters(Meters to) {
    strings.meters(to);
    meters.meters(to);
  }

  /** Returns the number of requests that were served. */
  public long served() {
    return door.served();
  }

  /**
   * Gives back memory that past requests left: room for long values in sessions, and for replies.
   * For a time in which little is asked for; requests go on, and take room as they need it. Waits
   * for event loops, not for long requests.
   *
   * @throws pando.fabric.PandoException if a session does not close: a memory server is lost or
   *     does not answer
   */
  public synchronized void giveMemoryBack() {
    if (!door.isClosing()) {
      List<Future<?>> given = new ArrayList<>();
      lanes.forEach((loop, lane) -> given.add(loop.submit(lane::close)));
      door.background().giveMemoryBack();
      door.blocks().clear();
      given.forEach(Future::syncUninterruptibly);
    }
  }

  /** Waits until this is closed. */
  public void awaitClosed() throws InterruptedException {
    group.terminationFuture().await();
  }

  /** Waits until this is closed, for so long at the most; returns whether it is. */
  public boolean awaitClosed(Duration longest) throws InterruptedException {
    return group.terminationFuture().await(longest.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Closes the door: it accepts no connection and begins no request, waits for the requests that
   * run, ends those that take long, sends their replies, and disconnects all clients. A client that
   * does not take its replies is disconnected after {@value #CLOSE_SECONDS_MAX} seconds. A second
   * call waits for the first.
   */
  @Override
  public synchronized void close() {
    door.close();
    sweeper.stop();
    Channel channel = listening;
    if (channel != null) {
      channel.close().awaitUninterruptibly();
    }
    List<ChannelFuture> ends = new ArrayList<>();
    connections.forEach((its, connection) -> {
      its.eventLoop().execute(connection::stop);
      ends.add(its.closeFuture());
    });
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS_MAX);
    for (ChannelFuture each : ends) {
      each.awaitUninterruptibly(Math.max(end - System.nanoTime(), 0), TimeUnit.NANOSECONDS);
    }
    door.background().close();
    group.shutdownGracefully(0, CLOSE_SECONDS_MAX, TimeUnit.SECONDS).awaitUninterruptibly();
    List<Runnable> sessions = lanes.values().stream().<Runnable>map(lane -> lane::close).toList();
    lanes.clear();
    Closing.all(sessions);
  }
}
