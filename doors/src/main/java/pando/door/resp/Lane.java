package pando.door.resp;

import java.lang.System.Logger.Level;
import java.util.Locale;
import pando.door.resp.Command.When;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;

/**
 * What an event loop has for all of its connections, as it serves one at a time: a session of the
 * index, room for what is read, and the replies. An operation of the index blocks the event loop
 * for as long as it takes: microseconds, where the pool is in this process or machine, and round
 * trips where operations go over a network.
 */
final class Lane implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Lane.class.getName());
  private static final int INPUT_BYTES = 256 << 10;

  final Door door;
  final LaneCounters counters;
  final byte[] input = new byte[INPUT_BYTES];
  final byte[] number = new byte[1 + Ascii.INTEGER_BYTES_MAX];
  final Replies replies = new Replies();
  final Store store;

  Lane(Door door) {
    this.door = door;
    this.counters = door.newCounters();
    this.store = door.keyspace().newStore();
  }

  /**
   * Runs a request, and adds its reply.
   *
   * @throws ProtocolException if the client cannot be one of Redis
   */
  void serve(Call call) throws ProtocolException {
    replies.begin(call.client.isResp3);
    try {
      run(call);
    } catch (Refusal e) {
      refuse(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      refuse("ERR " + e.getMessage());
    } catch (PoolFullException e) {
      fail("OOM the pool is full: " + e.getMessage());
    } catch (UnknownOutcomeException e) {
      fail("ERR failed, and may have changed a key: " + e.getMessage());
    } catch (PandoException e) {
      fail("ERR " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "a request failed: command=" + call.client.lastCommand, e);
      fail("ERR the request failed: " + e);
    }
  }

  private void refuse(String error) {
    counters.refused++;
    replies.error(error);
  }

  private void fail(String error) {
    counters.failed++;
    replies.error(error);
  }

  private void run(Call call) throws ProtocolException {
    Request request = call.request;
    int slot = door.commands().find(request);
    Command command = door.commands().at(slot);
    if (command == null) {
      checkHttp(request);
      throw door.unsupported().refusal(request);
    }
    counters.commands[slot]++;
    call.client.lastCommand = command.name();
    if (!command.accepts(request.count())) {
      throw Refusal.wrongArguments(command.name().toLowerCase(Locale.ROOT));
    }
    if (call.client.isStranger && !command.isAllowed(When.STRANGER)) {
      throw new Refusal("NOAUTH Authentication required.");
    }
    if (call.client.hasRefusedTransaction && !command.isAllowed(When.REFUSED_TRANSACTION)) {
      throw new Refusal(
          "ERR not carried out: MULTI was refused, and neither EXEC nor DISCARD has come since");
    }
    command.action().run(call);
  }

  /** A page in a browser could make it send lines to a server on this machine. */
  private static void checkHttp(Request request) throws ProtocolException {
    if (request.is(0, "POST") || request.is(0, "HOST:")) {
      throw new ProtocolException("this is no HTTP server");
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
