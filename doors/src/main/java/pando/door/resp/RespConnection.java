package pando.door.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import pando.door.resp.ReplyBlocks.Block;
import pando.journal.LogFailedException;

/**
 * A connection. What one read brings is served as a batch: requests are run one behind the other,
 * and their replies are sent together.
 *
 * <p>A request that would keep the event loop for long is run in the background. The connection
 * waits for its reply, all others go on. Where many requests have kept the event loop for {@value
 * #NANOS_AT_ONCE} ns, those behind wait until the others have had a turn.
 *
 * <p>A client may send all of its requests before it reads a reply. So everything is read that
 * comes, while replies wait that the client has not taken. Requests wait then, too, as long as they
 * are few: mostly they are smaller than their replies. Where they are more than {@value
 * #REQUESTS_HELD} bytes, those in front are run, and their replies are held; so requests that are
 * large with small replies do not wait. A connection may hold as many bytes of replies as it leaves
 * to all others; one that needs more is ended, with an error behind the replies that it holds.
 *
 * <p>Where clients are told only what is on the disk, replies that depend on what is not there yet
 * are kept until it is, and requests behind them wait; the event loop goes on.
 */
final class RespConnection extends ChannelInboundHandlerAdapter {
  /** Bytes of requests that are not run while the client does not take its replies. */
  static final int REQUESTS_HELD = 1 << 20;

  /** How long requests are run before other connections have a turn. */
  static final long NANOS_AT_ONCE = 1_000_000;

  /** The clock is read again behind so many requests. */
  private static final int REQUESTS_A_LOOK = 16;

  // What requests wait for, of which several may be: bits of {@link #waits}.
  private static final int TURN = 1;
  private static final int REPLY = 2;
  private static final int DISK = 4;

  private static final System.Logger LOG = System.getLogger(RespConnection.class.getName());

  private final RespLane lane;
  private final RespClient client;
  private final RespReader reader;
  private final RespCall call;
  private final Unread unread;
  private final UnsafeReplies unsafe;
  private @Nullable ChannelHandlerContext context;
  private boolean inputEnded;
  private boolean running;

  /**
   * What requests wait for: the turn of this connection, the reply of one in the background, the
   * disk.
   */
  private int waits;

  /** The error to end with behind the replies that wait for the disk. */
  private @Nullable String lastError;

  /** Whether requests that were read at {@link #begunAt} wait for their turn or for the disk. */
  private boolean hasBegun;

  private long begunAt;

  private boolean ended;

  RespConnection(RespLane lane, RespClient client) {
    this.lane = lane;
    this.client = client;
    this.reader = new RespReader(lane.input, lane.ahead, lane.door.waiting(), client);
    this.call = new RespCall(lane, client, lane.ahead[0]);
    this.unread = new Unread(lane, client);
    this.unsafe = new UnsafeReplies(lane, unread);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext from, Object read) {
    ByteBuf bytes = (ByteBuf) read;
    try {
      if (!ended && lastError == null) {
        lane.counters.bytesIn += bytes.readableBytes();
        reader.feed(bytes);
        run(from);
      }
    } catch (ProtocolException e) {
      end(from, e);
    } finally {
      bytes.release();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext from) {
    if (from.channel().isWritable()) {
      unread.goOn(from);
      goOn(from);
    }
  }

  /** A client that sends nothing more may still read its replies. */
  @Override
  public void userEventTriggered(ChannelHandlerContext from, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      inputEnded = true;
      goOn(from);
    }
    from.fireUserEventTriggered(event);
  }

  private void goOn(ChannelHandlerContext from) {
    if (!running && !ended && lastError == null) {
      try {
        run(from);
      } catch (ProtocolException e) {
        end(from, e);
      }
    }
  }

  /**
   * Runs the requests that have come, as long as the client takes the replies, or they are many.
   */
  private void run(ChannelHandlerContext to) throws ProtocolException {
    running = true;
    LaneCounters counters = lane.counters;
    long served = counters.served;
    long start = System.nanoTime();
    client.activeAt = start;
    boolean goesOn = hasBegun && waits == 0;
    if (waits == 0) {
      begunAt = goesOn ? begunAt : start;
      hasBegun = false;
    }
    try {
      Replies replies = lane.replies;
      lane.clear();
      boolean isTaken = isTaken(to);
      boolean hasMore = true;
      boolean looks = false;
      for (int i = 1; mayRun(isTaken) && (hasMore = next()); i++) {
        if (lane.serve(call)) {
          counters.served++;
        } else {
          runInBackground(to);
        }
        looks |= i % REQUESTS_A_LOOK == 0;
        if (looks && !lane.hasWaiting()) {
          looks = false;
          if (System.nanoTime() - start > NANOS_AT_ONCE) {
            waitForTurn(to);
          }
        }
        if (replies.size() >= Unread.REPLIES_SENT) {
          send(to);
          isTaken = isTaken(to);
        }
      }
      lane.runWaiting();
      send(to);
      boolean isCounted = !hasBegun && (goesOn || counters.served > served);
      hasBegun |= isCounted && waitsFor(DISK);
      if (isCounted && !hasBegun) {
        counters.batches.count(System.nanoTime() - begunAt);
      }
      if (waits == 0 && (client.quits || (inputEnded && !hasMore))) {
        finish();
      } else if (!ended) {
        reader.rest();
        if (waits != 0 && reader.bytes() > REQUESTS_HELD) {
          to.channel().config().setAutoRead(false);
        }
      }
    } finally {
      running = false;
    }
  }

  /** Takes the next request, if one has come as a whole. */
  private boolean next() throws ProtocolException {
    if (!reader.isAhead()) {
      lane.expect(client, reader.readAhead());
    }
    RespRequest request = reader.next();
    if (request != null) {
      call.request = request;
    }
    return request != null;
  }

  private boolean waitsFor(int what) {
    return (waits & what) != 0;
  }

  /** Goes on once the event loop has looked at all of its connections. */
  private void waitForTurn(ChannelHandlerContext to) {
    if (waits == 0) {
      waits = TURN;
      hasBegun = true;
      ScheduledFuture<?> _ =
          to.executor()
              .schedule(() -> take(to, () -> goOnBehind(to, TURN)), 1, TimeUnit.NANOSECONDS);
    }
  }

  /** Goes on behind what requests have waited for, unless they wait for something else, too. */
  private void goOnBehind(ChannelHandlerContext to, int what) {
    waits &= ~what;
    if (waits == 0) {
      to.channel().config().setAutoRead(true);
      goOn(to);
    }
  }

  /** Takes a step that the event loop was given; ends the connection where it fails. */
  private void take(ChannelHandlerContext to, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      exceptionCaught(to, e);
    }
  }

  private void runInBackground(ChannelHandlerContext to) {
    long bytes = call.request.copyBytes();
    if (!lane.door.waiting().tryTake(bytes)) {
      lane.counters.refused++;
      Refusal why = new Refusal("ERR the server has no memory for further requests that take long");
      lane.replies.error(TransactionCommands.refusal(call, why).error());
      return;
    }
    long start = System.nanoTime();
    try {
      RespRequest request = call.request.copied();
      lane.door.background().run(its -> serveBehind(to, its, request, bytes, start));
    } catch (Throwable e) {
      lane.door.waiting().giveBack(bytes);
      throw e;
    }
    waits |= REPLY;
  }

  /** In a thread of the background. */
  private void serveBehind(
      ChannelHandlerContext to, RespLane its, RespRequest request, long bytes, long start) {
    @Nullable Throwable failure = null;
    List<Block> reply = new ArrayList<>();
    try {
      its.clear(); // of a request that failed with an error
      boolean _ = its.serve(new RespCall(its, client, request));
      its.replies.moveTo(reply);
    } catch (Throwable e) {
      failure = e;
    }
    @Nullable Throwable why = failure;
    long place = its.dependsOn();
    lane.door.waiting().giveBack(bytes);
    to.executor().execute(() -> take(to, () -> answer(to, reply, place, why, start)));
  }

  /**
   * Sends the reply of a request that has run in the background, and runs those behind it.
   *
   * @param place in the log that must be on the disk before
   */
  private void answer(
      ChannelHandlerContext to,
      List<Block> reply,
      long place,
      @Nullable Throwable failure,
      long start) {
    lane.counters.served++;
    lane.counters.batches.count(System.nanoTime() - start);
    if (client.isGone) {
      client.endTransaction(); // to which the request may have added
    }
    if (failure != null) {
      exceptionCaught(to, failure);
      return;
    }
    if (ended) {
      reply.forEach(lane.door.blocks()::giveBack);
    } else {
      lane.replies.moveFrom(reply);
      send(to, place);
    }
    goOnBehind(to, REPLY);
  }

  private boolean isTaken(ChannelHandlerContext to) {
    return unread.isEmpty() && to.channel().isWritable();
  }

  private boolean mayRun(boolean isTaken) {
    return !ended
        && waits == 0
        && !client.quits
        && !lane.door.isClosing()
        && (isTaken || reader.bytes() > REQUESTS_HELD);
  }

  private void send(ChannelHandlerContext to) {
    send(to, lane.dependsOn());
  }

  /**
   * Sends the replies that wait, once all before a place in the log is on the disk; or ends the
   * connection if they cannot be held.
   */
  private void send(ChannelHandlerContext to, long place) {
    if (lane.replies.size() == 0 || ended) {
      return;
    }
    boolean isSafe = unsafe.isEmpty() && lane.isSafe(place);
    if (!(isSafe ? unread.send(to) : unsafe.keep(place))) {
      endUnread(to);
    } else if (!isSafe && !waitsFor(DISK)) {
      waits |= DISK;
      waitForDisk(to);
    }
  }

  private void waitForDisk(ChannelHandlerContext to) {
    lane.disk().add(to.executor(), unsafe.place(), () -> take(to, () -> sendKept(to)));
  }

  /** Sends the replies that have waited for the disk, and runs the requests behind them. */
  private void sendKept(ChannelHandlerContext to) {
    boolean isSafe = lane.isSafe(unsafe.place());
    LogFailedException failure = isSafe ? null : lane.disk().failure();
    if (!isSafe && !ended && failure == null) {
      waitForDisk(to); // for what has come since
      return;
    }
    if (failure != null && !ended) {
      end(to, "ERR " + failure.getMessage());
    }
    while (!ended && unsafe.next()) {
      if (!unread.send(to)) {
        endUnread(to);
      }
    }
    if (hasBegun && !waitsFor(TURN)) {
      hasBegun = false;
      lane.counters.batches.count(System.nanoTime() - begunAt);
    }
    String error = lastError;
    if (error != null && !ended) {
      end(to, error);
    }
    goOnBehind(to, DISK);
  }

  private void endUnread(ChannelHandlerContext to) {
    LOG.log(
        Level.WARNING,
        "unread replies take too much memory; disconnected: client={0}, bytes={1}",
        AddressText.text(client.address),
        client.heldBytes);
    lane.counters.refused++;
    end(
        to,
        "ERR disconnected: the replies that this client has not read take too much memory: bytes="
            + client.heldBytes);
  }

  /** Answers what is wrong with the client's bytes, and ends the connection. */
  private void end(ChannelHandlerContext to, ProtocolException failure) {
    lane.counters.broken++;
    lane.runWaiting();
    send(to); // replies to the requests before
    String error = "ERR Protocol error: " + failure.getMessage();
    if (waitsFor(DISK)) {
      lastError = error;
      reader.close();
    } else if (!ended) {
      end(to, error);
    }
  }

  private void end(ChannelHandlerContext to, String error) {
    lane.counters.keepError(error, "connection ended");
    lane.replies.begin(client.isResp3);
    lane.replies.error(error);
    ended = true;
    reader.close();
    unsafe.forget();
    unread.sendLast(to);
  }

  /**
   * Runs nothing more, and ends the connection behind the reply to what runs. In the event loop.
   */
  void stop() {
    client.quits = true;
    if (waits == 0) {
      finish();
    }
  }

  /**
   * Runs nothing more, and ends the connection once all replies are sent. What comes is read and
   * forgotten, as a client may read no reply before all of its requests are gone. In the event
   * loop.
   */
  private void finish() {
    ChannelHandlerContext its = context;
    if (!ended && its != null) {
      ended = true;
      reader.close();
      unread.end(its);
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // channelInactive says when it has closed.
  private static void close(ChannelHandlerContext its) {
    its.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext from) {
    ended = true;
    client.isGone = true;
    client.endTransaction();
    reader.close();
    unread.forget();
    unsafe.forget();
    lane.door.clients().remove(client);
    from.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext from, Throwable failure) {
    ended = true; // reads may still come before the channel is inactive
    lane.clear(); // of this client, where a request failed with an error
    boolean isOfClient = failure instanceof IOException || isOfTls(failure);
    if (!isOfClient) {
      LOG.log(Level.ERROR, "a connection failed: client=" + client.address, failure);
    }
    close(from);
  }

  private static boolean isOfTls(Throwable failure) {
    return failure instanceof DecoderException && failure.getCause() instanceof SSLException;
  }
}
