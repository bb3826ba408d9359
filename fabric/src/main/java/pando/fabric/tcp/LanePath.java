package pando.fabric.tcp;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.Waiter;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.FrameInput;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Watchdog;

/**
 * A worker's way by a connection that the workers of a lane share. While its request is under way,
 * what it has is guarded by the connection.
 */
final class LanePath implements RequestPath {
  private final LaneLoop lane;
  private final LaneConnection connection;
  private final RequestWriter request;
  private final ResponseReader response;
  private Watchdog.@Nullable Watched used;
  private @Nullable IOException failure;
  private boolean hasLeft;
  private long sequence;

  /** When the response must be there. */
  long deadline;

  /** Where the request ends among all bytes that the connection was given. */
  long end;

  /** Waits while the request is under way. */
  private final Waiter waiter = new Waiter();

  LanePath(
      LaneLoop lane, LaneConnection connection, RequestWriter request, ResponseReader response) {
    this.lane = lane;
    this.connection = connection;
    this.request = request;
    this.response = response;
  }

  @Override
  public boolean isOpen() {
    return connection.isOpen();
  }

  @Override
  public void open() throws IOException {
    connection.open();
  }

  @Override
  public void send(long number, long latest) throws IOException {
    sequence = number;
    deadline = latest;
    failure = null;
    hasLeft = false;
    used = null;
    waiter.begin();
    boolean gathered = false;
    try {
      used = connection.send(this, request);
      gathered = true;
    } finally {
      if (!gathered) {
        waiter.end();
      }
    }
  }

  @Override
  public void receive() throws IOException {
    lane.await(waiter);
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public boolean hasLeft() {
    return hasLeft;
  }

  @Override
  public void cut() {
    if (used != null) {
      connection.cut(used);
      used = null;
    }
  }

  /** Leaves the connection to the others, unless a response would come that nobody takes. */
  @Override
  public void release() {
    if (waiter.waits()) {
      cut();
    }
  }

  /**
   * Takes the response.
   *
   * @throws FrameException if it is not the response to its request
   */
  void take(FrameInput input) throws FrameException {
    response.accept(input, sequence);
    hasLeft = true;
  }

  /**
   * Lets the worker go on without a response.
   *
   * @param sent bytes that have left of all that the connection was given
   */
  void fail(IOException because, long sent) {
    failure = because;
    hasLeft = end <= sent;
    goOn();
  }

  /** Lets the worker go on. */
  void goOn() {
    waiter.goOn();
  }
}
