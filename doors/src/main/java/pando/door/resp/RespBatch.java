package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.BatchSize;

/**
 * Requests of an event loop's connection that wait for those behind them, and are carried out
 * together: a row of GETs, or of SETs without options, whose strings go over a network. Their
 * replies are added in the order of the requests. The keys and strings are where they were read, so
 * all requests are carried out before anything else is read.
 */
final class RespBatch {
  private final RespLane lane;
  private final BatchSize size = new BatchSize();
  private final List<MemorySegment> keys = new ArrayList<>();
  private final List<MemorySegment> strings = new ArrayList<>();

  // Of all requests that wait: whose they are, and the slot of their command.
  private @Nullable RespCall last;
  private int slot;
  private boolean stores;

  private int replied;
  private long bytesFound;

  RespBatch(RespLane lane) {
    this.lane = lane;
  }

  boolean isEmpty() {
    return keys.isEmpty();
  }

  /** Forgets all requests. */
  void clear() {
    keys.clear();
    strings.clear();
    last = null;
  }

  /**
   * Adds a request. Carries out those before, if they are of the other kind, and all if they are
   * many.
   *
   * @return {@code false} if it does not wait for others
   */
  boolean add(RespCall call) {
    boolean gets = call.request.count() == 2 && call.request.is(0, "GET");
    boolean sets = call.request.count() == 3 && call.request.is(0, "SET");
    if (!(gets || sets) || !isAllowed(call)) {
      return false;
    }
    if (!keys.isEmpty() && stores != sets) {
      run();
    }
    stores = sets;
    last = call;
    keys.add(call.key(1));
    if (sets) {
      strings.add(call.string(2));
    }
    slot = lane.count(call);
    if (keys.size() >= (sets ? BatchSize.OPERATIONS_MAX : size.lookups())) {
      run();
    }
    return true;
  }

  /** Returns whether a request is not refused before it runs. */
  private static boolean isAllowed(RespCall call) {
    return !call.client.isStranger
        && !call.client.hasRefusedTransaction
        && call.keyspace.isKey(call.request, 1)
        && (call.request.count() < 3 || call.request.length(2) <= call.keyspace.stringBytesMax());
  }

  /** Carries all requests out, and adds their replies. */
  void run() {
    RespCall call = last;
    if (call == null) {
      return;
    }
    replied = 0;
    bytesFound = 0;
    lane.store.begin();
    try {
      if (stores) {
        lane.store.storeAll(keys, strings, (_, _, failure) -> reply(call, null, failure));
      } else {
        lane.store.getAll(keys, (_, value, failure) -> reply(call, value, failure));
        size.found(keys.size(), bytesFound);
      }
    } catch (RuntimeException e) {
      while (replied < keys.size()) {
        boolean _ = reply(call, null, e);
      }
    } finally {
      clear();
    }
  }

  private boolean reply(
      RespCall call, @Nullable MemorySegment value, @Nullable RuntimeException failure) {
    lane.beginReply(call.client, slot);
    if (failure != null) {
      lane.fail(call.client, failure);
    } else if (stores) {
      call.replies.ok();
    } else {
      call.reply(value);
      bytesFound += value == null ? 0 : value.byteSize();
    }
    replied++;
    return true;
  }
}
