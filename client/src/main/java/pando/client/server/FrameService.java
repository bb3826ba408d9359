package pando.client.server;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import pando.client.Routes;
import pando.client.wire.FrameWriter;
import pando.index.RangeIndex;
import pando.index.bytes.ByteStrings;

/**
 * Serves clients without sockets: the thread that brings requests carries them out. So the
 * simulator runs what a {@link ClientService} does with frames. One client at a time; not
 * thread-safe.
 */
public final class FrameService implements AutoCloseable {
  private final FrameExchange frames;
  private final ServiceWorker<?> worker;

  /** Serves an index of words; its session is opened with the first operation. */
  public FrameService(RangeIndex index, Supplier<Routes> routes) {
    this(ServiceIndex.of(index), routes);
  }

  /** Serves byte strings; its session is opened with the first operation. */
  public FrameService(ByteStrings strings, Supplier<Routes> routes) {
    this(ServiceIndex.of(strings), routes);
  }

  private FrameService(ServiceIndex index, Supplier<Routes> routes) {
    this.frames = new FrameExchange(new ServiceFacts(index, routes, index::statusWord), () -> true);
    this.worker = index.workers().get();
  }

  /**
   * Carries out requests, and returns the responses. What a service would log as an error is
   * thrown.
   *
   * @param requests as bytes, all of them whole
   * @param answered receives the key of each operation that is done, before any other begins; 0 of
   *     byte strings
   */
  public byte[] serve(byte[] requests, LongConsumer answered) throws IOException {
    ReadableByteChannel in = Channels.newChannel(new ByteArrayInputStream(requests));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    WritableByteChannel responses = Channels.newChannel(out);
    while (frames.requests.hasRoom() && frames.requests.read(in) > 0) {
      do {
        frames.advance();
        while (frames.hasOperation()) {
          operate(answered);
          frames.finish();
          frames.responses.send(responses);
        }
        frames.responses.send(responses);
      } while (frames.awaitsRoom());
    }
    return out.toByteArray();
  }

  private void operate(LongConsumer answered) {
    frames.take(worker);
    worker.carryOut();
    switch (worker.unexpected) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
    if (worker.succeeded()) {
      answered.accept(worker.key());
    }
    frames.answer(worker);
  }

  /**
   * Returns the goodbye of a service that closes, which it sends in place of all other responses.
   */
  public static byte[] goodbye() throws IOException {
    FrameWriter writer = new FrameWriter();
    FrameExchange.addGoodbye(writer, "the compute server closes", 0, 0);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    writer.send(Channels.newChannel(out));
    return out.toByteArray();
  }

  /** Closes its session. */
  @Override
  public void close() {
    worker.close();
  }
}
