package pando.client.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import pando.client.ClientHost;

/**
 * A line without sockets, and its channel: keeps what a client sends until the client waits. Then
 * {@link #await} takes the requests, has a {@link FrameService} or another one serve them, and adds
 * the responses. For one thread at a time.
 */
public abstract class FrameLine implements ClientHost.Line, ByteChannel {
  private final ByteArrayOutputStream requests = new ByteArrayOutputStream();
  private ByteBuffer responses = ByteBuffer.allocate(0);
  private boolean isOpen;
  private boolean isCut;

  /** Makes a line that is not open yet. */
  protected FrameLine() {}

  /** Returns what was sent since the last call, and forgets it. */
  protected final byte[] takeRequests() {
    byte[] taken = requests.toByteArray();
    requests.reset();
    return taken;
  }

  /** Adds responses to those that the client has not read. */
  protected final void addResponses(byte[] added) {
    responses =
        ByteBuffer.allocate(responses.remaining() + added.length).put(responses).put(added).flip();
  }

  /** Returns whether the client has not read all responses. */
  protected final boolean hasResponses() {
    return responses.hasRemaining();
  }

  /** Drops responses that were not read: the client finds the end of the connection. */
  protected final void cut() {
    responses.limit(responses.position());
    isCut = true;
  }

  /** Forgets all that was sent, and returns this. */
  @Override
  public ByteChannel open() throws IOException {
    requests.reset();
    responses.limit(responses.position());
    isCut = false;
    isOpen = true;
    return this;
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    requests.writeBytes(bytes);
    return bytes.length;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    int bytes = Math.min(responses.remaining(), to.remaining());
    to.put(responses.slice().limit(bytes));
    responses.position(responses.position() + bytes);
    return bytes == 0 && isCut ? -1 : bytes;
  }

  @Override
  public boolean isOpen() {
    return isOpen;
  }

  /** Does nothing, as the channel takes all. */
  @Override
  public void awaitRoom(boolean awaits) {}

  @Override
  public void end() {
    isOpen = false;
  }

  @Override
  public void close() {
    end();
  }
}
