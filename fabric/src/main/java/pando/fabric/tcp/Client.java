package pando.fabric.tcp;

import pando.fabric.base.Fences;
import pando.fabric.memory.Closing;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Role;

/** A client of a memory server: who it is, its place, and what its requests take effect by. */
final class Client implements AutoCloseable {
  private final TcpMemoryServer owner;
  private final Hello.Request hello;
  private final Fences.Pass pass;
  private boolean hasPlace;

  /**
   * Creates it, without a place.
   *
   * @param onRefusal run, maybe more than once, by a thread that refuses what the client sends
   */
  Client(TcpMemoryServer owner, Hello.Request hello, Runnable onRefusal) {
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

  /** Gives its place back. */
  @Override
  public void close() {
    Closing.all(pass::close, this::leave);
  }

  private void leave() {
    if (hasPlace) {
      owner.leave(hello);
    }
  }
}
