package pando.client;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.SecureChannel;

/**
 * A client's connection to one compute server, which all of its threads share. Opened when it is
 * first needed, and anew where it was cut.
 *
 * <p>No thread of its own reads: one of those that wait for an answer does, hands out what comes
 * for others, and leaves the reading to the next once it has its own answer. So an answer that one
 * thread waits for wakes that thread alone. Thread-safe; threads that are interrupted wait on, and
 * stay interrupted.
 */
final class Connection {
  /** Most calls under way. */
  static final int UNDER_WAY_MAX = 256;

  /** Silence after which it is looked whether the other side has ended the connection. */
  private static final long DOUBT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Most looks for an answer before a thread waits: some 20 us. */
  private static final int LOOKS_MAX = 32;

  private final ClientHost host;
  private final ClientHost.Line line;
  private final String address;
  private final long clientNumber;
  private final long answerNanos;
  private final AtomicBoolean hasReader = new AtomicBoolean();

  /** How often the thread that reads looks for its answer before it waits; that thread's. */
  private int looks = 1;

  private final AtomicInteger waiters = new AtomicInteger();

  /** Attempts to open it that have failed. */
  private final AtomicInteger failedOpens = new AtomicInteger();

  /** Guards all that follows. */
  private final ReentrantLock lock = new ReentrantLock();

  private final FrameReader reader = FrameReader.ofResponses();
  private final FrameWriter writer = new FrameWriter();
  private final @Nullable Call[] calls = new Call[UNDER_WAY_MAX];
  private final int[] free = new int[UNDER_WAY_MAX];
  private int freeCount = UNDER_WAY_MAX;
  private long heard;
  private @Nullable ByteChannel channel;
  private long sequence;

  /** Why the last attempt to open it failed, if one did. */
  private String openFailure = "";

  private boolean wasFull;
  private boolean closed;

  /**
   * Makes a connection that is not open yet.
   *
   * @param clientNumber that its requests have
   * @param answerNanos longest wait for one answer
   */
  Connection(ClientHost host, String address, long clientNumber, long answerNanos) {
    this.host = host;
    this.line = host.line(address);
    this.address = address;
    this.clientNumber = clientNumber;
    this.answerNanos = answerNanos;
    for (int i = 0; i < UNDER_WAY_MAX; i++) {
      free[i] = UNDER_WAY_MAX - 1 - i;
    }
  }

  /** Returns HOST:PORT. */
  String address() {
    return address;
  }

  /**
   * Gathers a call, to be sent by {@link #flush}. Opens the connection first, if it is not open;
   * waits while too many are under way.
   *
   * @throws IOException if it cannot be opened; the call was not sent
   */
  void send(Call call) throws IOException {
    while (!trySend(call)) {
      flush();
      awaitRoom();
    }
  }

  /** Returns whether there was room. */
  private boolean trySend(Call call) throws IOException {
    int failedBefore = failedOpens.get();
    lock.lock();
    try {
      ensureOpen(failedBefore);
      if (freeCount == 0) {
        cutIfLate();
        return false;
      }
      long now = host.nanoTime();
      call.id = free[freeCount - 1];
      add(call);
      calls[call.id] = call;
      freeCount--;
      call.endsAt = writer.added();
      call.start(this, now + answerNanos);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void add(Call call) {
    if (call.kind == ClientFrame.OPERATIONS) {
      if (writer.kind() == 0) {
        writer.begin(ClientFrame.OPERATIONS);
      }
      writer.operation(call.op, call.id, call.key, call.value, call.expected);
      return;
    }
    finish();
    call.sequence = ++sequence;
    writer.begin(call.kind);
    boolean isWhole = false;
    try {
      call.addTo(writer);
      isWhole = true;
    } finally {
      if (!isWhole) {
        writer.abandon();
      }
    }
    writer.finish(call.flags(), call.sequence, clientNumber);
  }

  /** Finishes the frame in which operations gather. */
  private void finish() {
    if (writer.kind() != 0) {
      writer.finish(0, ++sequence, clientNumber);
    }
  }

  /** Sends a call, and waits; returns whether it was answered. */
  boolean ask(Call call) {
    try {
      send(call);
      flush();
      await(call);
    } catch (IOException e) {
      call.end(Call.State.NOT_DONE, String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      abandon(call);
      throw e;
    }
    return call.state() == Call.State.ANSWERED;
  }

  /** Sends what gathered. */
  void flush() {
    lock.lock();
    try {
      if (channel != null) {
        sendAll(channel);
      }
    } catch (IOException e) {
      fail(e);
    } catch (RuntimeException | Error e) {
      abandonAll();
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private void sendAll(ByteChannel to) throws IOException {
    finish();
    writer.send(to);
    boolean isFull = writer.unsent() > 0 || (to instanceof SecureChannel tls && !tls.flush());
    if (isFull != wasFull) {
      line.awaitRoom(isFull);
      wasFull = isFull;
    }
  }

  /**
   * Opens it if it is not open. An attempt that has failed while this thread waited is as good as
   * one more: each may take seconds, and many threads may wait.
   *
   * @param failedBefore attempts before the thread waited
   */
  private void ensureOpen(int failedBefore) throws IOException {
    if (closed) {
      throw new IOException("the client is closed");
    }
    if (freeCount == UNDER_WAY_MAX && host.nanoTime() - heard > DOUBT_NANOS) {
      receive();
    }
    if (channel == null) {
      if (failedOpens.get() != failedBefore) {
        throw new IOException(openFailure);
      }
      open();
    }
  }

  private void open() throws IOException {
    try {
      channel = line.open();
    } catch (IOException e) {
      failedOpens.incrementAndGet();
      openFailure = String.valueOf(e.getMessage());
      throw e;
    }
    heard = host.nanoTime();
  }

  /** Waits until a call is answered, or fails. */
  void await(Call call) {
    boolean interrupted = false;
    try {
      while (call.isUnderWay()) {
        if (hasReader.compareAndSet(false, true)) {
          try {
            readUntilEnded(call);
          } finally {
            hasReader.set(false);
            handOver();
          }
        } else {
          interrupted |= awaitReader(call);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits until another thread has read the answer, or stops to read; returns whether interrupted.
   */
  private boolean awaitReader(Call call) {
    waiters.incrementAndGet();
    call.waiter = Thread.currentThread();
    try {
      long left = call.deadline - host.nanoTime();
      if (left <= 0) {
        cut(call);
      } else if (call.isUnderWay() && hasReader.get()) {
        LockSupport.parkNanos(this, left);
      }
    } finally {
      call.waiter = null;
      waiters.decrementAndGet();
    }
    return Thread.interrupted();
  }

  /** Reads until a call has ended. */
  private void readUntilEnded(Call call) {
    boolean interrupted = false;
    try {
      while (call.isUnderWay()) {
        interrupted |= Thread.interrupted();
        long left = call.deadline - host.nanoTime();
        if (left <= 0) {
          cut(call);
        } else if (!lookFor(call)) {
          readOnce(left);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Looks for the answer some times before the thread waits, as it takes longer to wake up than
   * answers of a near server take. How often it looks depends on whether that was of use before.
   */
  private boolean lookFor(Call call) {
    for (int look = 0; look < looks; look++) {
      lock.lock();
      try {
        receive();
      } finally {
        lock.unlock();
      }
      if (!call.isUnderWay()) {
        looks = Math.min(LOOKS_MAX, 2 * looks);
        return true;
      }
      Thread.onSpinWait();
    }
    looks = Math.max(1, looks / 2);
    return false;
  }

  private void readOnce(long nanos) {
    IOException failure = null;
    try {
      line.await(nanos);
    } catch (IOException e) {
      failure = e;
    }
    lock.lock();
    try {
      if (failure != null) {
        fail(failure);
      } else {
        receive();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Lets another thread that waits read. */
  private void handOver() {
    if (waiters.get() == 0) {
      return;
    }
    lock.lock();
    try {
      for (Call other : calls) {
        Thread waits = other == null ? null : other.waiter;
        if (waits != null) {
          LockSupport.unpark(waits);
          return;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until fewer calls are under way, whichever ends. */
  private void awaitRoom() {
    if (hasReader.compareAndSet(false, true)) {
      try {
        readOnce(TimeUnit.MILLISECONDS.toNanos(1));
      } finally {
        hasReader.set(false);
        handOver();
      }
    } else {
      LockSupport.parkNanos(this, TimeUnit.MICROSECONDS.toNanos(50));
    }
  }

  /** Sends and receives what can be without waiting; fails all calls where that is not possible. */
  private void receive() {
    ByteChannel open = channel;
    if (open == null) {
      return;
    }
    try {
      sendAll(open);
      receive(open);
    } catch (IOException e) {
      fail(e);
    } catch (RuntimeException | Error e) {
      abandonAll();
      throw e;
    }
  }

  private void receive(ByteChannel from) throws IOException {
    boolean isPlain = !(from instanceof SecureChannel);
    int bytes;
    do {
      bytes = reader.read(from);
      boolean isEmpty = isPlain && reader.hasRoom();
      while (reader.open()) {
        if (reader.kind() == ClientFrame.GOODBYE) {
          takeGoodbye();
          return;
        }
        deliver();
        reader.next();
      }
      heard = host.nanoTime();
      if (isEmpty) {
        break;
      }
    } while (bytes > 0);
    if (bytes < 0) {
      throw new EOFException("the compute server ended the connection");
    }
  }

  private void deliver() throws FrameException {
    if (reader.kind() == ClientFrame.OPERATIONS) {
      for (int i = 0; i < reader.count(); i++) {
        Call call = expected(id());
        call.takeResult(reader);
        ended(call, Call.State.ANSWERED, call.text);
      }
    } else {
      Call call = bySequence(reader.kind(), reader.sequence());
      call.takeResponse(reader);
      ended(call, Call.State.ANSWERED, call.text);
    }
  }

  private int id() throws FrameException {
    if (reader.left() < ClientFrame.RESULT_BYTES) {
      throw new FrameException("results that are not there: left=" + reader.left());
    }
    return (int) (reader.word(0) >>> 16) & 0xffff;
  }

  private Call expected(int id) throws FrameException {
    Call call = id < UNDER_WAY_MAX ? calls[id] : null;
    if (call == null || call.kind != ClientFrame.OPERATIONS) {
      throw new FrameException("a result of no operation: id=" + id);
    }
    return call;
  }

  private Call bySequence(int kind, long sequence) throws FrameException {
    for (Call call : calls) {
      if (call != null && call.kind == kind && call.sequence == sequence) {
        return call;
      }
    }
    throw new FrameException("a response to no request: kind=" + kind + ", sequence=" + sequence);
  }

  private void ended(Call call, Call.State became, String text) {
    calls[call.id] = null;
    free[freeCount++] = call.id;
    call.end(became, text);
  }

  /** Nothing that is under way was done, nor will be. */
  private void takeGoodbye() throws FrameException {
    String because = "the compute server said goodbye";
    if (reader.left() >= ClientFrame.RESULT_BYTES) {
      int bytes = (int) (reader.word(0) >>> Integer.SIZE);
      reader.skip(ClientFrame.RESULT_BYTES);
      because += ": " + reader.text(bytes);
    }
    end(because, Long.MIN_VALUE);
  }

  /** Fails all calls under way, and closes the connection. */
  private void fail(IOException because) {
    end(String.valueOf(because.getMessage()), writer.sent());
  }

  /**
   * Ends all calls and the connection.
   *
   * @param sent calls that end behind so many bytes did not leave
   */
  private void end(String because, long sent) {
    for (Call call : calls) {
      if (call != null) {
        ended(call, call.endsAt <= sent ? Call.State.CUT : Call.State.NOT_DONE, because);
      }
    }
    writer.clear();
    reader.clear();
    wasFull = false;
    channel = null;
    line.end();
  }

  /** Cuts the connection, as an answer did not come in time. */
  private void cut(Call call) {
    lock.lock();
    try {
      if (call.isUnderWay()) {
        failLate();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Cuts the connection if an answer is late: those who wait for room may be all that wait. */
  private void cutIfLate() {
    long now = host.nanoTime();
    for (Call call : calls) {
      if (call != null && call.deadline - now <= 0) {
        failLate();
        return;
      }
    }
  }

  private void failLate() {
    fail(
        new IOException(
            "no answer in time: milliseconds=" + TimeUnit.NANOSECONDS.toMillis(answerNanos)));
  }

  /**
   * Cuts the connection if a call is under way whose thread does not wait for it any more: the call
   * is used again, and must not take the answer.
   */
  void abandon(Call call) {
    lock.lock();
    try {
      if (call.isUnderWay()) {
        abandonAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Cuts the connection, which an error has left anywhere in a frame. */
  private void abandonAll() {
    end("a thread of the client failed", writer.sent());
  }

  /** Closes it for good. */
  void close() {
    lock.lock();
    try {
      closed = true;
      fail(new IOException("the client is closed"));
      line.close();
    } catch (IOException e) {
      // It is of no further use either way.
    } finally {
      lock.unlock();
    }
  }
}
