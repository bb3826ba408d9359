package pando.fabric.tcp;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.base.Fences;
import pando.fabric.memory.Closing;
import pando.fabric.wire.CardAccess;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Role;

/** A client of a memory server: who it is, its place, and what its requests take effect by. */
final class ServedClient implements AutoCloseable {
  private final TcpMemoryServer owner;
  private final Hello.Request hello;
  private final Fences.Pass pass;
  private boolean hasPlace;
  private CardAccess.@Nullable Way way;

  /**
   * Creates it, without a place.
   *
   * @param onRefusal run, maybe more than once, by a thread that refuses what the client sends
   */
  ServedClient(TcpMemoryServer owner, Hello.Request hello, Runnable onRefusal) {
    this.owner = owner;
    this.hello = hello;
    this.pass = owner.fences().pass(hello.computeServer(), hello.way(), onRefusal);
  }

  /** Returns what it says of itself. */
  Hello.Request hello() {
    return hello;
  }

  Fences.Pass pass() {
    return pass;
  }

  boolean isAdmin() {
    return hello.role() == Role.ADMIN;
  }

  /** Takes a place for it; returns whether there is one. */
  boolean takePlace() {
    hasPlace = owner.enter(hello);
    return hasPlace;
  }

  /**
   * Serves a CALL by which it asks for a way by the memory server's card; its thread is inside.
   *
   * @return length of the response
   * @throws IllegalArgumentException if there is no card, or the request makes no sense
   */
  int serveCard(MemorySegment message, int requestBytes) {
    CardAccess card = owner.card();
    if (card == null) {
      throw new IllegalArgumentException("this memory server has no card");
    }
    if (way == null) {
      way = card.open();
    }
    pass.attach();
    return way.serve(message, requestBytes);
  }

  /** Ends what takes effect by it, and gives its place back. */
  @Override
  public void close() {
    Closing.all(this::end, this::leave);
  }

  private void end() {
    if (way != null) {
      way.close();
      pass.detach();
    }
    // Not if its way did not end: a fence must not be answered then.
    pass.close();
  }

  private void leave() {
    if (hasPlace) {
      owner.leave(hello);
    }
  }
}
