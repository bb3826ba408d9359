package pando.door.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection. What one read brings is served as a batch: requests are run one behind the other,
 * and their replies are sent together.
 *
 * <p>Where a client does not take its replies, nothing more is read from it, nor run for it, until
 * it has taken them. So no queue of requests grows: what waits is at most what one read brought,
 * and replies of {@value #REPLIES_SENT} bytes and one more.
 */
final class Connection extends ChannelInboundHandlerAdapter {
  /** Replies of so many bytes are sent before further requests are run. */
  static final int REPLIES_SENT = 64 << 10;

  private static final System.Logger LOG = System.getLogger(Connection.class.getName());

  private final Lane lane;
  private final Client client;
  private final RequestReader reader;
  private final Call call;
  private @Nullable ChannelHandlerContext context;
  private boolean running;
  private boolean ended;

  Connection(Lane lane, Client client) {
    this.lane = lane;
    this.client = client;
    this.reader = new RequestReader(lane.input, lane.door.waiting(), client);
    this.call = new Call(lane, client, reader.request());
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext from, Object read) {
    ByteBuf bytes = (ByteBuf) read;
    try {
      if (!ended) {
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
    if (from.channel().isWritable() && !running && !ended) {
      try {
        run(from);
      } catch (ProtocolException e) {
        end(from, e);
      }
    }
  }

  /** Runs the requests that have come, as long as the client takes the replies. */
  private void run(ChannelHandlerContext to) throws ProtocolException {
    running = true;
    LaneCounters counters = lane.counters;
    long served = counters.served;
    long start = System.nanoTime();
    try {
      Replies replies = lane.replies;
      replies.clear();
      boolean writable = to.channel().isWritable();
      while (writable && !client.quits && !lane.door.isClosing() && reader.next()) {
        lane.serve(call);
        counters.served++;
        if (replies.size() >= REPLIES_SENT) {
          writable = send(to);
        }
      }
      send(to);
      if (counters.served > served) {
        counters.batches.count(System.nanoTime() - start);
      }
      if (client.quits) {
        finish();
      } else {
        reader.rest();
        to.channel().config().setAutoRead(to.channel().isWritable());
      }
    } finally {
      running = false;
    }
  }

  /** Sends the replies that wait; returns whether the client takes more. */
  private boolean send(ChannelHandlerContext to) {
    Replies replies = lane.replies;
    int size = replies.size();
    if (size > 0) {
      lane.counters.bytesOut += size;
      ByteBuf out = to.alloc().ioBuffer(size);
      out.writeBytes(replies.bytes(), 0, size);
      replies.clear();
      ChannelFuture sent = to.writeAndFlush(out);
      if (!sent.isDone()) {
        waitFor(to, sent, size);
      }
    }
    return to.channel().isWritable();
  }

  private void waitFor(ChannelHandlerContext to, ChannelFuture sent, int size) {
    MemoryBudget waiting = lane.door.waiting();
    if (waiting.tryTake(size)) {
      sent.addListener(_ -> waiting.giveBack(size));
    } else {
      LOG.log(
          Level.WARNING,
          "unread replies take too much memory; disconnected: client={0}",
          Addresses.text(client.address));
      ended = true;
      close(to);
    }
  }

  /** Tells the client what is wrong with its bytes, and ends the connection. */
  private void end(ChannelHandlerContext to, ProtocolException failure) {
    lane.counters.broken++;
    send(to); // replies to the requests before
    lane.replies.begin(client.isResp3);
    lane.replies.error("ERR Protocol error: " + failure.getMessage());
    send(to);
    finish();
  }

  /** Reads nothing more, and ends the connection once all replies are sent. In the event loop. */
  void finish() {
    ChannelHandlerContext its = context;
    if (!ended && its != null) {
      ended = true;
      its.channel().config().setAutoRead(false);
      reader.close();
      its.writeAndFlush(its.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // channelInactive says when it has closed.
  private static void close(ChannelHandlerContext its) {
    its.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext from) {
    ended = true;
    reader.close();
    client.cursors.clear();
    lane.door.clients().remove(client);
    from.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext from, Throwable failure) {
    lane.replies.clear(); // of this client, where a request failed with an error
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
