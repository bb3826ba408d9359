package pando.fabric.tcp;

import java.io.IOException;
import java.net.SocketException;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;

/** A connection that one worker uses alone. */
final class OwnPath implements RequestPath {
  private final RemoteServer server;
  private final long way;
  private final Watchdog watchdog;
  private final RequestWriter request;
  private final ResponseReader response;
  private Watchdog.@Nullable Watched connection;
  private boolean hasLeft;
  private long sequence;

  OwnPath(RemoteServer server, Watchdog watchdog, RequestWriter request, ResponseReader response) {
    this.server = server;
    this.way = server.newWay();
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
    connection = server.open(watchdog, way);
  }

  @Override
  public void send(long number, long deadline) throws IOException {
    Watchdog.Watched open = connected();
    sequence = number;
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
    }
  }

  @Override
  public void release() {
    cut();
  }

  private Watchdog.Watched connected() throws SocketException {
    if (connection == null) {
      throw new SocketException("not connected: " + server);
    }
    return connection;
  }
}
