package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.baselines.lock.NodeLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.session.Retry;

/**
 * Locks of models if memory servers write. A CALL freezes a run: its memory server then refuses
 * writes and other freezes until a CALL thaws the run. If the process of the holder dies in
 * between, the run stays frozen.
 *
 * <p>Each freeze uses another gate. So a CALL whose outcome is unknown may be repeated, and a CALL
 * that is late has no effect.
 */
final class FrozenModelLocks implements ModelLocks {
  private static final int PAUSE_MAX = 80;

  /** After so many BUSY answers in a row, the model's page is read again. */
  private static final int BUSY_TO_A_REFRESH = 8;

  /**
   * After so many STALE answers in a row for a run that the key's model still has, the run counts
   * as damaged.
   */
  private static final int DAMAGES_MAX = 3;

  private final NodeLocks pageLocks;
  private final ModelTable models;
  private final ModelPages pages;
  private final ModelView model;
  private final Worker worker;
  private final MemorySegment memory;
  private final long message;
  private final long waitNanos;
  private final long owner;
  private long ticket;

  private long[] places = new long[16];
  private long[] gates = new long[16];
  private int[] times = new int[16];
  private int count;

  /**
   * Creates the locks of a worker that holds none.
   *
   * @param owner the session, of {@link RunLayout#OWNER_BITS} bits
   */
  FrozenModelLocks(
      RolexServer server,
      NodeLocks pageLocks,
      ModelPages pages,
      Worker worker,
      long message,
      long owner) {
    this.pageLocks = pageLocks;
    this.models = server.models;
    this.pages = pages;
    this.model = new ModelView(server.options.epsilon(), server.leaves.delta());
    this.worker = worker;
    this.memory = worker.memory();
    this.message = message;
    this.waitNanos = server.options.lockWaitNanos();
    this.owner = owner;
    // Random, as an earlier session may have had the same number.
    this.ticket = worker.random().nextInt();
  }

  @Override
  public boolean lockAndRead(long key, long place, VerbList reads) {
    long start = worker.nanoTime();
    int damages = 0;
    for (int attempt = 0; !tryLock(place); attempt++) {
      boolean gone = status() == WriteMessage.STALE;
      if (gone || attempt % BUSY_TO_A_REFRESH == BUSY_TO_A_REFRESH - 1) {
        long gate = gate();
        pages.refresh(key);
        if (!models.find(key, model) || model.place != place) {
          return false;
        }
        damages = gone ? damages + 1 : 0;
        if (damages == DAMAGES_MAX) {
          throw new CorruptNodeException(
              RunLayout.address(place), "has the gate of no run: gate=" + Long.toHexString(gate));
        }
        checkWait(place, gate, worker.nanoTime() - start);
      }
      worker.backoff().pause(Math.min(attempt, PAUSE_MAX));
    }
    if (reads.size() > 0) {
      worker.post(reads);
    }
    return true;
  }

  private void checkWait(long place, long gate, long waited) {
    if (waited > waitNanos) {
      throw RunLayout.stayedFrozen(place, gate, waited);
    }
  }

  @Override
  public boolean tryLock(long place) {
    int held = find(place);
    if (held >= 0) {
      times[held]++;
      return true;
    }
    // Before the CALL: if the CALL fails, the run may be frozen anyway.
    hold(place);
    call(WriteMessage.FREEZE, place, gates[count - 1]);
    boolean frozen = status() == WriteMessage.FOUND;
    if (!frozen) {
      count--;
    }
    return frozen;
  }

  /** {@inheritDoc} A new run is written frozen, so this takes no CALL. */
  @Override
  public boolean tryLockNew(long place) {
    hold(place);
    return true;
  }

  @Override
  public long gate(long place) {
    return gates[find(place)];
  }

  @Override
  public void unlock(long place) {
    int held = find(place);
    if (times[held] == 1) {
      call(WriteMessage.THAW, place, gates[held]);
      forget(held);
    } else {
      times[held]--;
    }
  }

  @Override
  public void unlockAll() {
    while (count > 0) {
      call(WriteMessage.THAW, places[count - 1], gates[count - 1]);
      count--;
    }
    pageLocks.unlockAll();
  }

  @Override
  public void keep() {
    count = 0;
    pageLocks.keep();
  }

  @Override
  public void abandon(Throwable failure) {
    while (count > 0) {
      long place = places[--count];
      long gate = gates[count];
      try {
        Retry.untilDone(worker, () -> call(WriteMessage.THAW, place, gate));
      } catch (Throwable e) {
        failure.addSuppressed(e);
      }
    }
    pageLocks.abandon(failure);
  }

  private void hold(long place) {
    if (count == places.length) {
      places = Arrays.copyOf(places, 2 * count);
      gates = Arrays.copyOf(gates, 2 * count);
      times = Arrays.copyOf(times, 2 * count);
    }
    places[count] = place;
    gates[count] = RunLayout.frozen(place, owner, ticket++);
    times[count++] = 1;
  }

  private void forget(int held) {
    count--;
    places[held] = places[count];
    gates[held] = gates[count];
    times[held] = times[count];
  }

  private int find(long place) {
    for (int held = 0; held < count; held++) {
      if (places[held] == place) {
        return held;
      }
    }
    return -1;
  }

  private void call(long operation, long place, long gate) {
    WriteMessage.set(memory, message, WriteMessage.OPERATION, operation);
    WriteMessage.set(memory, message, WriteMessage.PLACE, place);
    WriteMessage.set(memory, message, WriteMessage.GATE, gate);
    int memoryServer = GlobalAddress.server(RunLayout.address(place));
    int bytes = worker.call(memoryServer, RolexWrites.FUNCTION, message, WriteMessage.FREEZE_BYTES);
    WriteMessage.checkLength("answer", bytes, WriteMessage.FROZEN_BYTES);
  }

  private long status() {
    return WriteMessage.get(memory, message, WriteMessage.STATUS);
  }

  private long gate() {
    return WriteMessage.get(memory, message, WriteMessage.BEFORE);
  }
}
