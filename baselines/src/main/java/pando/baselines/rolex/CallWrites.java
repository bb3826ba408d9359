package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.session.Request;

/**
 * Writes entries by a CALL to the memory server that holds the leaf: the baseline of ROLEX's paper,
 * XStore on disaggregated memory. Not thread-safe.
 */
final class CallWrites {
  private static final int RESTARTS_MAX = 2_000;
  private static final int PAUSE_MAX = 80;

  /** After so many BUSY answers in a row, the model's page is read again. */
  private static final int BUSY_TO_A_REFRESH = 8;

  /**
   * After so many attempts in a row in which no leaf of an unchanged model covers the key, the run
   * counts as damaged.
   */
  private static final int DAMAGES_MAX = 3;

  private final RolexServer server;
  private final PoolPlaces places;
  private final ModelPages pages;
  private final RolexLeaves leaves;
  private final ModelView model;
  private final ModelView stale;
  private final Worker worker;
  private final MemorySegment memory;
  private final long message;
  private final int delta;

  /** An allocated synonym leaf that is in no chain, {@code NULL} if there is none. */
  private long spare;

  private int damages;
  private boolean done;
  private long before;

  CallWrites(RolexContext context, RolexLeaves leaves) {
    this.server = context.server;
    this.places = server.places;
    this.pages = context.pages;
    this.leaves = leaves;
    this.model = leaves.model;
    this.delta = server.leaves.delta();
    this.stale = new ModelView(server.options.epsilon(), delta);
    this.worker = context.worker;
    this.memory = context.memory;
    this.message = context.message;
  }

  /** Returns the value that the last write found. */
  long before() {
    return before;
  }

  /** Returns whether the last write is known to have taken effect, even if a later step failed. */
  boolean isDone() {
    return done;
  }

  /**
   * Carries out an operation.
   *
   * @return whether the key was there before
   * @throws StalledException if the run stays frozen
   */
  boolean write(Request wanted) {
    done = false;
    damages = 0;
    try {
      boolean found = writeSurely(wanted);
      freeSpare();
      return found;
    } catch (Throwable e) {
      freeSpareAfter(e);
      throw e;
    }
  }

  private boolean writeSurely(Request wanted) {
    long key = wanted.key();
    long start = worker.nanoTime();
    int waits = 0;
    for (int restarts = 0; restarts < RESTARTS_MAX; ) {
      leaves.findModel(key);
      long status = call(wanted);
      if (status == WriteMessage.FOUND || status == WriteMessage.ABSENT) {
        return finish(key, status == WriteMessage.FOUND);
      } else if (status == WriteMessage.NEEDS_SPARE) {
        allocateSpare(GlobalAddress.server(model.run()));
      } else if (status == WriteMessage.BUSY) {
        await(key, waits++, start);
      } else if (status == WriteMessage.STALE) {
        refresh(key, restarts++);
      } else {
        throw new CorruptNodeException(
            get(WriteMessage.BEFORE), "found by its memory server: key=" + key);
      }
    }
    throw new StalledException(
        "no attempt found the leaf that covers a key: key=%s, run=%s, restarts=%s"
            .formatted(key, RunLayout.toString(model.place), RESTARTS_MAX));
  }

  /** Sends the request to the memory server of the model's run; returns the status. */
  private long call(Request wanted) {
    long key = wanted.key();
    int memoryServer = GlobalAddress.server(model.run());
    if (spare != GlobalAddress.NULL && GlobalAddress.server(spare) != memoryServer) {
      freeSpare();
    }
    long offered = spare;
    set(WriteMessage.OPERATION, wanted.operation().code);
    set(WriteMessage.PLACE, model.place);
    set(WriteMessage.KEY, key);
    set(WriteMessage.VALUE, wanted.stored());
    set(WriteMessage.EXPECTED, wanted.expected());
    set(WriteMessage.FIRST, model.first(key));
    set(WriteMessage.LAST, model.last(key));
    set(WriteMessage.DELTA, delta);
    set(WriteMessage.SPARE, offered);
    set(WriteMessage.STAMP, model.stamp);
    // Without an answer it is not known whether the leaf links to the spare.
    spare = GlobalAddress.NULL;
    int length = WriteMessage.writeBytes(wanted.operation());
    int bytes = callOnce(memoryServer, length, key);
    WriteMessage.checkLength("answer", bytes, WriteMessage.WRITTEN_BYTES);
    long status = get(WriteMessage.STATUS);
    done = status == WriteMessage.FOUND || status == WriteMessage.ABSENT;
    spare = done && get(WriteMessage.LINK) == offered ? GlobalAddress.NULL : offered;
    return status;
  }

  private int callOnce(int memoryServer, int length, long key) {
    try {
      return worker.call(memoryServer, RolexWrites.FUNCTION, message, length);
    } catch (Error e) {
      throw UnknownOutcomeException.of("the write may have been carried out: key=" + key, e);
    }
  }

  private boolean finish(long key, boolean found) {
    before = get(WriteMessage.BEFORE);
    long leaf = get(WriteMessage.LEAF);
    long link = get(WriteMessage.LINK);
    long freed = get(WriteMessage.FREED);
    boolean due =
        get(WriteMessage.HOPS) >= Changes.HOPS_DUE
            || get(WriteMessage.SYNONYMS) >= server.synonymsMax(model.leaves())
            || 2 * get(WriteMessage.EMPTIES) >= model.leaves();
    boolean linked = link == GlobalAddress.NULL || places.isSynonym(link);
    if (leaf >= 0 && leaf < model.leaves() && linked) {
      server.synonyms.set(server.runs.leafAddress(model.place, (int) leaf), link);
    }
    if (freed != GlobalAddress.NULL) {
      if (!places.isSynonym(freed)) {
        throw new CorruptNodeException(freed, "is no synonym leaf that was freed: key=" + key);
      }
      server.allocator.freeSynonym(worker, message, freed);
    }
    if (due) {
      server.retrain(model.low);
    }
    return found;
  }

  /**
   * Pauses while the run is frozen. Now and then, reads the model's page again, as the run may have
   * been replaced.
   */
  private void await(long key, int waits, long start) {
    long waited = worker.nanoTime() - start;
    if (waited > server.options.lockWaitNanos()) {
      throw RunLayout.stayedFrozen(model.place, get(WriteMessage.BEFORE), waited);
    }
    leaves.counters.restarts++;
    worker.backoff().pause(Math.min(waits, PAUSE_MAX));
    if (waits % BUSY_TO_A_REFRESH == BUSY_TO_A_REFRESH - 1) {
      pages.refresh(key);
    }
  }

  private void refresh(long key, int restarts) {
    leaves.counters.restarts++;
    stale.set(model);
    pages.refresh(key);
    damages = server.models.find(key, model) && model.isSame(stale) ? damages + 1 : 0;
    if (damages == DAMAGES_MAX) {
      throw new CorruptNodeException(
          model.run(),
          "no leaf of the model's run covers a key: key=%s, run=%s"
              .formatted(key, RunLayout.toString(model.place)));
    }
    worker.backoff().pause(Math.min(restarts, PAUSE_MAX));
  }

  /** Allocates a synonym leaf on the memory server of the run, whose processor links it in. */
  private void allocateSpare(int memoryServer) {
    spare = server.allocator.allocateSynonym(worker, message, memoryServer);
    if (GlobalAddress.server(spare) != memoryServer) {
      throw new PoolFullException(
          "no room for a synonym leaf at the memory server of its run (remove entries, or use"
              + " larger memory servers): server=%s, capacityBytes=%s"
                  .formatted(memoryServer, server.nodePlaces.dramBytes(memoryServer)));
    }
  }

  private void freeSpare() {
    long unused = spare;
    spare = GlobalAddress.NULL;
    if (unused != GlobalAddress.NULL) {
      server.allocator.freeSynonym(worker, message, unused);
    }
  }

  private void freeSpareAfter(Throwable failure) {
    try {
      freeSpare();
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
  }

  private long get(int field) {
    return WriteMessage.get(memory, message, field);
  }

  private void set(int field, long value) {
    WriteMessage.set(memory, message, field, value);
  }
}
