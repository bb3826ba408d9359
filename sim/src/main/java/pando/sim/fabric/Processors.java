package pando.sim.fabric;

import java.lang.foreign.MemorySegment;
import pando.fabric.PoolUsage;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.local.LocalPool;
import pando.fabric.memory.Words;
import pando.sim.fault.Fault;
import pando.sim.network.Faults;
import pando.sim.time.Simulation;

/**
 * The memory servers' processors, which serve CALLs; under a fault they report for a while that no
 * space is left.
 */
public final class Processors {
  private final LocalPool pool;
  private final Simulation simulation;
  private final Faults faults;
  private long fullUntil;

  /** Serves the CALLs of a pool. */
  public Processors(LocalPool pool, Simulation simulation, Faults faults) {
    this.pool = pool;
    this.simulation = simulation;
    this.faults = faults;
  }

  /** Returns the use of a memory server's pool. */
  PoolUsage usage(int server) {
    return pool.server(server).usage();
  }

  /** Serves one CALL; returns the length of the response, which replaces the request. */
  int serve(int server, int function, MemorySegment message, int requestBytes) {
    checkOpen(server);
    if (function == SpaceMessage.ALLOCATE && isFull()) {
      return respondFull(message, usage(server));
    }
    return pool.server(server).serve(function, message, requestBytes);
  }

  /** Returns how much work a CALL was that was served, as its handler has it. */
  int workUnits(int server, int function, int requestBytes, int responseBytes) {
    return pool.server(server).workUnits(function, requestBytes, responseBytes);
  }

  /** Checks that a memory server has its memory. */
  void checkOpen(int server) {
    if (!pool.segment(server).scope().isAlive()) {
      throw new IllegalStateException("the pool is closed");
    }
  }

  private boolean isFull() {
    fullUntil = Math.max(fullUntil, simulation.now() + faults.picosOf(Fault.FULL_POOL));
    return simulation.now() < fullUntil;
  }

  private static int respondFull(MemorySegment message, PoolUsage usage) {
    Words.set(message, SpaceMessage.bytes(0), SpaceMessage.FULL);
    Words.set(message, SpaceMessage.bytes(1), usage.capacityBytes());
    Words.set(message, SpaceMessage.bytes(2), usage.reservedBytes());
    Words.set(message, SpaceMessage.bytes(3), usage.usedBytes());
    return SpaceMessage.bytes(4);
  }
}
