package pando.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.Channels;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import pando.client.server.FrameLine;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.client.wire.StatusWord;

/**
 * A host in virtual time, whose compute servers share a map and answer when a client waits. What
 * happens at a point of a request is in a script: its steps run in order, one each time.
 */
class ScriptedHost implements ClientHost {
  /** After so much virtual time a wait counts as one without a limit. */
  private static final long NANOS_MAX = 600_000_000_000L;

  /** Waits at a silent server end that often, as others may. */
  private static final long SILENT_NANOS = 1_000_000;

  /** What happens at a point. */
  @FunctionalInterface
  interface Step {
    /** Does nothing. */
    Step NONE = () -> {};

    void run() throws IOException;
  }

  /** When lines open, take bytes, wait and give bytes: what happens then, once each. */
  final Queue<Step> opens = new ArrayDeque<>();

  final Queue<Step> writes = new ArrayDeque<>();
  final Queue<Step> awaits = new ArrayDeque<>();
  final Queue<Step> reads = new ArrayDeque<>();
  final Queue<Step> pauses = new ArrayDeque<>();

  /** Whether answers do not come any more. */
  boolean isSilent;

  /** The compute servers' routes; none if one serves all keys. */
  final List<Routes.Route> routes = new ArrayList<>();

  final Map<Long, Long> model = new TreeMap<>();

  /** Which compute server is asked for routes first. */
  long random;

  int opened;
  int flushes;
  private long nanos;

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void pause(long duration) {
    try {
      next(pauses);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    pass(duration);
  }

  private void pass(long duration) {
    nanos += duration;
    if (nanos > NANOS_MAX) {
      throw new AssertionError("a wait without a limit: nanos=" + nanos);
    }
  }

  @Override
  public long random() {
    return random;
  }

  @Override
  public Line line(String address) {
    return new ScriptedLine();
  }

  @Override
  public void close() {
    // Nothing is open.
  }

  private static void next(Queue<Step> steps) throws IOException {
    Step next = steps.poll();
    if (next != null) {
      next.run();
    }
  }

  /** Answers requests, all of which are whole. */
  private byte[] serve(byte[] requests) throws IOException {
    FrameReader reader = FrameReader.ofRequests();
    FrameWriter writer = new FrameWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    var in = Channels.newChannel(new ByteArrayInputStream(requests));
    while (reader.read(in) > 0) {
      while (reader.open()) {
        answer(reader, writer);
        reader.next();
      }
    }
    writer.send(Channels.newChannel(out));
    return out.toByteArray();
  }

  private void answer(FrameReader request, FrameWriter response) {
    response.begin(request.kind());
    int flags = 0;
    switch (request.kind()) {
      case ClientFrame.ROUTES -> {
        routes.forEach(route -> response.route(route.low(), route.owner(), route.address()));
        flags = routes.isEmpty() ? 0 : ClientFrame.PARTITIONED;
      }
      case ClientFrame.STATUS -> {
        response.result(Outcome.YES, 0, 0, 0, "");
        for (int place = 0; place < StatusWord.COUNT; place++) {
          response.word(place == StatusWord.STRINGS ? 1 : 1_000);
        }
        response.count(StatusWord.COUNT);
      }
      case ClientFrame.BYTES -> {
        flushes++;
        response.result(Outcome.YES, 0, 0, 0, "");
        response.count(0);
      }
      default -> {
        for (int i = 0; i < request.count(); i++) {
          operate(request, response);
        }
      }
    }
    response.finish(flags, request.kind() == ClientFrame.OPERATIONS ? 0 : request.sequence(), 0);
  }

  private void operate(FrameReader request, FrameWriter response) {
    int op = (int) request.word(0) & 0xff;
    int id = (int) (request.word(0) >>> 16) & 0xffff;
    long key = request.word(8);
    Long before = op == Op.GET ? model.get(key) : model.put(key, request.word(16));
    request.skip(Op.bytes(op));
    int outcome = before == null ? Outcome.NO : Outcome.YES;
    response.result(outcome, id, key, before == null ? 0 : before, "");
  }

  private final class ScriptedLine extends FrameLine {
    @Override
    public ByteChannel open() throws IOException {
      opened++;
      next(opens);
      return super.open();
    }

    @Override
    public void await(long nanosMax) throws IOException {
      next(awaits);
      if (isSilent) {
        pass(Math.min(nanosMax, SILENT_NANOS));
      } else {
        addResponses(serve(takeRequests()));
      }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (from.hasRemaining()) {
        next(writes);
      }
      return super.write(from);
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      if (hasResponses()) {
        next(reads);
      }
      return super.read(to);
    }
  }
}
