package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.AnsweredCalls;
import pando.index.session.Retry;

/**
 * Sends a worker's requests to trees, again and again until they are answered. A request that
 * changes something has a name, by which the memory server executes it once. Not thread-safe.
 */
final class TreeCalls {
  private final Worker worker;
  private final MemorySegment memory;
  private final long message;
  private final long process;
  private final long name;
  private boolean uncertain;

  /**
   * Prepares the requests of a worker.
   *
   * @param message local offset of a buffer for the message of a CALL
   * @param session number of its session
   */
  TreeCalls(EmtServer server, Worker worker, long message, int session) {
    this.worker = worker;
    this.memory = worker.memory();
    this.message = message;
    this.process = server.process;
    this.name = AnsweredCalls.worker(server.number, session);
  }

  Worker worker() {
    return worker;
  }

  long message() {
    return message;
  }

  /** Returns a field of the request or of the answer. */
  long get(int field) {
    return EmtMessage.get(memory, message, field);
  }

  /** Sets a field of the request. */
  void set(int field, long value) {
    EmtMessage.set(memory, message, field, value);
  }

  /**
   * Sends a request until it is answered.
   *
   * @param tree address of the tree's header
   * @param operation of a session, or one of {@link EmtMessage}
   * @param bytes of the request
   * @param fields sets the fields behind the tree, or the name
   * @return the status in the answer
   * @throws CorruptNodeException if nothing was done, as a node is damaged
   * @throws pando.fabric.PandoException if there is no answer, or an {@link Error}; {@link
   *     #isUncertain} says whether the request may have been executed
   */
  long send(long tree, long operation, int bytes, Runnable fields) {
    uncertain = false;
    long number = EmtMessage.isNamed(operation) ? AnsweredCalls.nextNumber() : 0;
    try {
      post(tree, operation, number, bytes, fields);
    } catch (UnknownOutcomeException | Error _) {
      uncertain = true;
      sendAgain(tree, operation, number, bytes, fields);
    }
    uncertain = false;
    long status = get(EmtMessage.STATUS);
    if (status == EmtMessage.CORRUPT) {
      throw new CorruptNodeException(get(EmtMessage.DETAIL), "found by its memory server");
    }
    return status;
  }

  private void sendAgain(long tree, long operation, long number, int bytes, Runnable fields) {
    Retry.untilDone(worker, () -> post(tree, operation, number, bytes, fields));
  }

  private void post(long tree, long operation, long number, int bytes, Runnable fields) {
    set(EmtMessage.OPERATION, operation);
    set(EmtMessage.TREE, tree);
    if (EmtMessage.isNamed(operation)) {
      AnsweredCalls.setName(memory, message + EmtMessage.NAME, process, name, number);
    }
    fields.run();
    int answered = worker.call(GlobalAddress.server(tree), EmtHandler.FUNCTION, message, bytes);
    if (answered < EmtMessage.GOT_BYTES) {
      throw new IllegalStateException(
          "a tree's answer is too short: operation=%s, bytes=%s, least=%s"
              .formatted(operation, answered, EmtMessage.GOT_BYTES));
    }
  }

  /** Returns whether the last request was not answered, and may have been executed. */
  boolean isUncertain() {
    return uncertain;
  }
}
