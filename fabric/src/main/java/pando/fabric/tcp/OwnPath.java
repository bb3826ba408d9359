package pando.fabric.tcp;

import java.io.IOException;
import java.net.SocketException;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Watchdog;

/** A connection that one worker uses alone: a new one, or one that another worker left. */
final class OwnPath implements RequestPath {
  private final RemoteServer server;
  private final Watchdog watchdog;
  private final RequestWriter request;
  private final ResponseReader response;
  private Watchdog.@Nullable Watched connection;

  /** The way to the memory server, once this was opened. */
  private @Nullable Long way;

  private boolean isUnderWay;
  private boolean hasLeft;
  private long sequence;

  OwnPath(RemoteServer server, Watchdog watchdog, RequestWriter request, ResponseReader response) {
    this.server = server;
    this.watchdog = watchdog;
    this.request = request;
    this.response = response;
  }

  @Override
  public boolean isOpen() {
    return connection != null && connection.channel().isOpen();
  }

  @Override
  public void open() throws IOException {
    cut();
    if (way == null && takeSpare()) {
      return;
    }
    long own = way == null ? server.newWay() : way;
    connection = server.open(watchdog, own);
    way = own;
  }

  private boolean takeSpare() {
    SpareConnections.Spare spare = server.spares().take();
    if (spare == null) {
      return false;
    }
    way = spare.way();
    connection = spare.connection();
    return true;
  }

  @Override
  public void send(long number, long deadline) throws IOException {
    Watchdog.Watched open = connected();
    sequence = number;
    isUnderWay = true;
    open.expectBy(deadline);
    try {
      request.send(open.channel());
      hasLeft = true;
    } catch (IOException e) {
      hasLeft = request.hasLeft();
      throw open.reason(e);
    }
  }

  @Override
  public void receive() throws IOException {
    Watchdog.Watched open = connected();
    try {
      response.receive(open.channel(), sequence);
      open.relax();
      isUnderWay = false;
    } catch (IOException e) {
      throw open.reason(e);
    }
  }

  @Override
  public boolean hasLeft() {
    return hasLeft;
  }

  @Override
  public void cut() {
    if (connection != null) {
      connection.close();
      connection = null;
      isUnderWay = false;
    }
  }

  @Override
  public void release() {
    if (connection == null || way == null || isUnderWay) {
      cut();
      return;
    }
    server.spares().keep(new SpareConnections.Spare(way, connection));
    connection = null;
  }

  private Watchdog.Watched connected() throws SocketException {
    if (connection == null) {
      throw new SocketException("not connected: " + server);
    }
    return connection;
  }
}
