package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.fabric.server.CallHandler;
import pando.index.session.Operation;

/**
 * The memory server's side of writes by CALL, as in XStore: changes an entry in the leaves that
 * this memory server holds, which sessions read by one-sided verbs meanwhile. Freezes runs that are
 * about to be replaced.
 *
 * <p>Only a memory server's processor stores to the leaves and the header of a run that is neither
 * new nor frozen, and to no word that verbs act on atomically. Thread-safe: several processor
 * threads, and several memory servers, may share it.
 */
public final class RolexWrites implements CallHandler {
  static final int FUNCTION = FIRST_FUNCTION + 1;

  private static final int STRIPE_BITS = 7;
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
  private static final int DELTA_MIN = 2;

  /** Each changes one run at a time, under its own monitor; no verb is issued meanwhile. */
  private final LeafWriter[] stripes = new LeafWriter[1 << STRIPE_BITS];

  private final RolexLeafLayout[] leaves = new RolexLeafLayout[RolexLeafLayout.DELTA_MAX + 1];
  private final RunLayout[] runs = new RunLayout[RolexLeafLayout.DELTA_MAX + 1];

  /** Creates the handler. */
  public RolexWrites() {
    Arrays.setAll(stripes, i -> new LeafWriter());
    Arrays.setAll(leaves, RolexLeafLayout::new);
    Arrays.setAll(runs, delta -> new RunLayout(leaves[delta].bytes()));
  }

  @Override
  public int function() {
    return FUNCTION;
  }

  /** Serves a request; one of no bytes finds out that the handler is there. */
  @Override
  public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
    if (requestBytes == 0) {
      return 0;
    }
    if (requestBytes < Long.BYTES) {
      WriteMessage.checkLength("request", requestBytes, WriteMessage.WRITE_BYTES);
    }
    long operation = WriteMessage.get(message, 0, WriteMessage.OPERATION);
    if (operation == WriteMessage.FREEZE || operation == WriteMessage.THAW) {
      WriteMessage.checkLength("request", requestBytes, WriteMessage.FREEZE_BYTES);
      return changeGate(server, dram, message, operation == WriteMessage.FREEZE);
    }
    int expected =
        requestBytes < WriteMessage.WRITE_BYTES
            ? WriteMessage.WRITE_BYTES
            : WriteMessage.writeBytes(Operation.of(operation));
    WriteMessage.checkLength("request", requestBytes, expected);
    return write(server, dram, message);
  }

  private int write(int server, MemorySegment dram, MemorySegment message) {
    long delta = WriteMessage.get(message, 0, WriteMessage.DELTA);
    if (delta < DELTA_MIN || delta > RolexLeafLayout.DELTA_MAX) {
      throw new IllegalArgumentException("no such leaves: delta=" + delta);
    }
    RunLayout layout = runs[(int) delta];
    long place = WriteMessage.get(message, 0, WriteMessage.PLACE);
    int count = RunLayout.leaves(place);
    long first = WriteMessage.get(message, 0, WriteMessage.FIRST);
    long last = WriteMessage.get(message, 0, WriteMessage.LAST);
    if (first < 0 || first > last || last >= count) {
      throw new IllegalArgumentException(
          "no such leaves of a run: first=%s, last=%s, run=%s"
              .formatted(first, last, RunLayout.toString(place)));
    }
    checkHere(server, dram, RunLayout.address(place), layout.bytes(count));
    long spare = WriteMessage.get(message, 0, WriteMessage.SPARE);
    if (spare != GlobalAddress.NULL) {
      checkHere(server, dram, spare, layout.synonymBytes());
    }
    LeafWriter writer = stripe(place);
    synchronized (writer) {
      writer.write(leaves[(int) delta], layout, server, dram, message);
    }
    return WriteMessage.WRITTEN_BYTES;
  }

  private int changeGate(int server, MemorySegment dram, MemorySegment message, boolean freezes) {
    long place = WriteMessage.get(message, 0, WriteMessage.PLACE);
    long frozen = WriteMessage.get(message, 0, WriteMessage.GATE);
    if (RunLayout.leaves(place) == 0 || !RunLayout.isFrozen(frozen, place)) {
      throw new IllegalArgumentException(
          "no such gate: run=" + RunLayout.toString(place) + ", gate=" + Long.toHexString(frozen));
    }
    checkHere(server, dram, RunLayout.address(place), RunLayout.HEADER_BYTES);
    long at = GlobalAddress.offset(RunLayout.address(place)) + RunLayout.GATE;
    synchronized (stripe(place)) {
      long gate = Words.getAcquire(dram, at);
      long status = WriteMessage.FOUND;
      if (!freezes) {
        // Another gate: this was done before, or the run is not there any more.
        if (gate == frozen) {
          Words.setRelease(dram, at, place);
        }
      } else if (gate == place) {
        Words.setRelease(dram, at, frozen);
      } else if (gate != frozen) {
        status = RunLayout.isFrozen(gate, place) ? WriteMessage.BUSY : WriteMessage.STALE;
      }
      WriteMessage.set(message, 0, WriteMessage.STATUS, status);
      WriteMessage.set(message, 0, WriteMessage.BEFORE, gate);
    }
    return WriteMessage.FROZEN_BYTES;
  }

  private LeafWriter stripe(long place) {
    return stripes[(int) ((RunLayout.address(place) * SPREAD) >>> (Long.SIZE - STRIPE_BITS))];
  }

  private static void checkHere(int server, MemorySegment dram, long address, int bytes) {
    if (!isHere(server, dram, address, bytes)) {
      throw new IllegalArgumentException(
          "not at this memory server: address=%s, bytes=%s, server=%s"
              .formatted(GlobalAddress.toString(address), bytes, server));
    }
  }

  /** Returns whether a run or a synonym leaf can be at an address of this memory server. */
  static boolean isHere(int server, MemorySegment dram, long address, int bytes) {
    long offset = GlobalAddress.offset(address);
    return GlobalAddress.server(address) == server
        && !GlobalAddress.isSwizzled(address)
        && !GlobalAddress.isOnChip(address)
        && RunLayout.isAligned(address)
        && offset >= Fabric.CATALOGUE_BYTES
        && offset <= dram.byteSize() - bytes;
  }
}
