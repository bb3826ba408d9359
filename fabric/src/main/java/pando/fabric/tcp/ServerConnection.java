package pando.fabric.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import pando.fabric.Worker;
import pando.fabric.base.Fences;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.mapped.VerbRunner;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.wire.CardAccess;
import pando.fabric.wire.Frame;
import pando.fabric.wire.FrameBuffer;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.RequestReader;
import pando.fabric.wire.ResponseWriter;
import pando.fabric.wire.Sockets;
import pando.fabric.wire.Watchdog;

/**
 * A memory server's side of one connection, in a thread of its own: reads requests, serves them,
 * and sends the responses before it reads more. So it never has more than a frame of requests and a
 * frame of responses, and a peer that does not read its responses stops itself.
 */
final class ServerConnection implements Runnable {
  private static final int OPERANDS_16 = 64;

  private final TcpMemoryServer owner;
  private final Watchdog.Watched connection;
  private final MemoryServerLink link;
  private final PeerLimits limits;
  private final VerbRunner runner = new VerbRunner();
  private final FrameBuffer input = new FrameBuffer();
  private final RequestReader request;
  private final ResponseWriter response = new ResponseWriter();

  /** A CALL's message, which no client changes; and the operands of a 16-byte masked CAS. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(Worker.CALL_BYTES_MAX, 64);

  ServerConnection(TcpMemoryServer owner, MemoryServerLink link, Watchdog.Watched connection) {
    this.owner = owner;
    this.link = link;
    this.connection = connection;
    this.limits = owner.limits();
    this.request = new RequestReader(link.number(), link.dramBytes());
  }

  @Override
  public void run() {
    try (connection) {
      Sockets.configure(connection.socket());
      try (ServedClient client = owner.handshake().perform(connection)) {
        if (client != null) {
          serve(client);
        }
      }
    } catch (IOException peerIsGone) {
      // Or it was cut off, or made no sense. Its connection ends, and nothing else.
    } catch (IllegalStateException memoryIsGone) {
      if (!owner.isClosed()) {
        throw memoryIsGone;
      }
    } finally {
      owner.forget(this);
    }
  }

  /** Waits until the runner is not inside a native call that accesses the memory. */
  void awaitNoNativeCall() {
    runner.awaitNoNativeCall();
  }

  /** Responses gather while further requests are there, as those of a lane come in one piece. */
  private void serve(ServedClient client) throws IOException {
    while (true) {
      try {
        if (client.isAdmin()) {
          connection.expect(limits.frameNanos());
        }
        receive();
        serve(request.check(input, client.hello()), client);
        input.consume();
        if (!input.hasFrame(Frame.REQUEST_BYTES)) {
          send();
        }
      } catch (FrameException e) {
        refuse(e);
        return;
      }
    }
  }

  private void refuse(FrameException because) throws IOException {
    String text = String.valueOf(because.getMessage());
    makeRoom(Frame.RESPONSE_BYTES + Worker.CALL_BYTES_MAX);
    response.message(Frame.REFUSED, text, input.sequence());
    send();
  }

  private void receive() throws IOException {
    // The start of a request may take any time; it may be there already, behind the last one.
    boolean whole = input.isEmpty() && input.fill(connection.channel(), Frame.REQUEST_BYTES);
    if (!whole) {
      connection.expect(limits.frameNanos());
      while (!whole) {
        whole = input.fill(connection.channel(), Frame.REQUEST_BYTES);
      }
      connection.relax();
    }
  }

  private void send() throws IOException {
    connection.expect(limits.frameNanos());
    response.send(connection.channel());
    connection.relax();
  }

  /** Makes room for a response of so many bytes behind those that were not sent. */
  private void makeRoom(int bytes) throws IOException {
    if (!response.hasRoom(bytes)) {
      send();
    }
  }

  /**
   * Serves a request. Inside the pass are only effects, no sending: a client that does not read
   * holds up no fence.
   */
  private void serve(int status, ServedClient client) throws IOException {
    makeRoom(request.responseBytes());
    if (status != Frame.DONE) {
      answer(status, request.badVerb());
      return;
    }
    switch (request.kindOfRequest()) {
      case Frame.CALL -> serveCall(client);
      case Frame.FENCE -> serveFence();
      default -> serveList(client.pass());
    }
  }

  /** Writes a response without results. */
  private void answer(int status, int detail) {
    response.begin(Frame.RESPONSE_BYTES);
    response.finish(status, detail, request.sequence());
  }

  private void serveList(Fences.Pass pass) throws IOException {
    if (!pass.tryEnter()) {
      refuse(pass);
      return;
    }
    try {
      runVerbs();
    } finally {
      pass.exit();
    }
  }

  /** Answers that the client is fenced; one that has replaced this connection awaits no answer. */
  private void refuse(Fences.Pass pass) throws IOException {
    if (!pass.isFenced()) {
      throw new ClosedChannelException();
    }
    answer(Frame.FENCED, 0);
  }

  private void runVerbs() {
    response.begin(request.responseBytes());
    int verbs = request.verbs();
    for (int i = 0; i < verbs; i++) {
      runVerb();
      request.next();
    }
    response.finish(Frame.DONE, 0, request.sequence());
  }

  private void serveFence() {
    boolean ended =
        owner.fences().fence(request.computeServer(), request.leastEpoch(), limits.fenceNanos());
    answer(ended ? Frame.DONE : Frame.BUSY, 0);
  }

  /** Runs a verb, all of whose values are checked. */
  private void runVerb() {
    long address = request.address();
    int bytes = request.bytes();
    switch (request.kind()) {
      case READ -> runner.read(link, address, response.segment(), response.add(bytes), bytes);
      case WRITE -> runner.write(link, address, input.segment(), request.payloadOffset(), bytes);
      case CAS -> response.add(runner.cas(link, address, request.operand(0), request.operand(1)));
      case FAA -> response.add(runner.faa(link, address, request.operand(0)));
      case MASKED_CAS ->
          response.add(
              runner.maskedCas(
                  link,
                  address,
                  request.operand(0),
                  request.operand(1),
                  request.operand(2),
                  request.operand(3)));
      case MASKED_FAA ->
          response.add(runner.maskedFaa(link, address, request.operand(0), request.operand(1)));
      case MASKED_CAS_16 -> runMaskedCas16(address);
    }
  }

  private void runMaskedCas16(long address) {
    MemorySegment.copy(input.segment(), request.operandsOffset(), scratch, 0, OPERANDS_16);
    boolean stored = runner.maskedCas16(link, address, scratch, 0);
    response.add(Words.get(scratch, OPERANDS_16));
    response.add(Words.get(scratch, OPERANDS_16 + Long.BYTES));
    assert !stored || request.bytes() == 2 * Long.BYTES;
  }

  private void serveCall(ServedClient client) throws IOException {
    if (!response.isEmpty()) {
      // They must not wait for a processor.
      send();
    }
    int requestBytes = request.bytes();
    MemorySegment.copy(input.segment(), request.payloadOffset(), scratch, 0, requestBytes);
    if (request.function() == CardAccess.FUNCTION) {
      // Waits for a CALL that came by the card, and that one needs a processor.
      enterCall(requestBytes, client);
    } else if (owner.takeProcessor()) {
      try {
        // Only now: what refuses it may have come while this waited.
        enterCall(requestBytes, client);
      } finally {
        owner.releaseProcessor();
      }
    } else {
      answer(Frame.BUSY, 0);
    }
  }

  private void enterCall(int requestBytes, ServedClient client) throws IOException {
    Fences.Pass pass = client.pass();
    if (pass.tryEnter()) {
      runCall(requestBytes, client);
    } else {
      refuse(pass);
    }
  }

  private void runCall(int requestBytes, ServedClient client) {
    try {
      int responseBytes = callResponse(requestBytes, client);
      response.begin(request.responseBytes());
      int offset = response.add(responseBytes);
      MemorySegment.copy(scratch, 0, response.segment(), offset, responseBytes);
      response.finish(Frame.DONE, responseBytes, request.sequence());
    } catch (CallFailedException e) {
      response.message(Frame.CALL_FAILED, String.valueOf(e.getMessage()), request.sequence());
    } finally {
      client.pass().exit();
    }
  }

  /** Returns the length of the response, which replaces the request. */
  private int callResponse(int requestBytes, ServedClient client) {
    if (request.function() != CardAccess.FUNCTION) {
      return owner.serve(request.function(), scratch, requestBytes);
    }
    try {
      return client.serveCard(scratch, requestBytes);
    } catch (IllegalArgumentException e) {
      throw CallFailedException.of(
          link.number(), CardAccess.FUNCTION, String.valueOf(e.getMessage()));
    }
  }
}
