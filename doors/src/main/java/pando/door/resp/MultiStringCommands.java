package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.BatchFailure;
import pando.index.bytes.BatchSize;

/**
 * Commands on several strings. Over a network their lookups and stores go together. A door that has
 * the keys for itself stores all of them at one moment.
 */
final class MultiStringCommands {
  private MultiStringCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("MGET", -2, MultiStringCommands::mGet),
        new Command("MSET", -3, MultiStringCommands::mSet),
        new Command("MSETNX", -3, MultiStringCommands::mSetNx));
  }

  private static void mGet(RespCall call) {
    int keys = call.request.count() - 1;
    Replies.checkEntries(keys);
    call.replies.array(keys);
    if (call.keyspace.goesTogether()) {
      getTogether(call, keys);
      return;
    }
    for (int i = 1; i <= keys; i++) {
      StringCommands.reply(
          call,
          call.hit(call.store.find(call.key(i))) && call.keyspace.isString(call.store.value()));
    }
  }

  private static void getTogether(RespCall call, int keys) {
    List<MemorySegment> some = new ArrayList<>();
    for (int i = 1; i <= keys; i++) {
      some.add(call.key(i));
      if (some.size() == BatchSize.OPERATIONS_MAX || i == keys) {
        call.store.getAll(some, (_, value, failure) -> replyFound(call, value, failure));
        some.clear();
      }
    }
  }

  private static boolean replyFound(
      RespCall call, @Nullable MemorySegment value, @Nullable RuntimeException failure) {
    if (failure != null) {
      throw failure;
    }
    call.reply(value);
    return true;
  }

  private static void mSet(RespCall call) {
    checkPairs(call, "mset");
    if (call.keyspace.goesTogether()) {
      storeTogether(call);
    } else if (call.keyspace.isOwn()) {
      call.store.atomically(keysOfPairs(call), () -> storeEach(call));
    } else {
      storeEach(call);
    }
    call.replies.ok();
  }

  private static List<MemorySegment> keysOfPairs(RespCall call) {
    List<MemorySegment> keys = new ArrayList<>();
    for (int i = 1; i < call.request.count(); i += 2) {
      keys.add(call.key(i));
    }
    return keys;
  }

  private static void storeEach(RespCall call) {
    for (int i = 1; i < call.request.count(); i += 2) {
      call.store.put(call.key(i), call.string(i + 1));
    }
  }

  private static void storeTogether(RespCall call) {
    List<MemorySegment> keys = new ArrayList<>();
    List<MemorySegment> strings = new ArrayList<>();
    int count = call.request.count();
    for (int i = 1; i < count; i += 2) {
      keys.add(call.key(i));
      strings.add(call.string(i + 1));
      if (keys.size() == BatchSize.OPERATIONS_MAX || i == count - 2) {
        BatchFailure failure = new BatchFailure();
        call.store.storeAll(keys, strings, (_, _, why) -> failure.add(why));
        failure.check();
        keys.clear();
        strings.clear();
      }
    }
  }

  /** None is stored if one is too long, or its value. */
  private static void checkPairs(RespCall call, String name) {
    int count = call.request.count();
    if (count % 2 == 0) {
      throw Refusal.wrongArguments(name);
    }
    for (int i = 1; i < count; i += 2) {
      call.checkKey(i);
      call.checkString(i + 1);
    }
  }

  /** Stores strings if none of the keys is there, the last one of those with the same key. */
  private static void mSetNx(RespCall call) {
    checkPairs(call, "msetnx");
    if (!call.keyspace.isOwn()) {
      call.reply(areNew(call) && storeNew(call));
      return;
    }
    boolean[] isDone = {false};
    call.store.atomically(
        keysOfPairs(call),
        () -> {
          isDone[0] = areNew(call);
          if (isDone[0]) {
            storeEach(call);
          }
        });
    call.reply(isDone[0]);
  }

  private static boolean areNew(RespCall call) {
    boolean areNew = true;
    for (int i = 1; i < call.request.count() && areNew; i += 2) {
      areNew = !call.store.find(call.key(i));
    }
    return areNew;
  }

  /** Takes back what it has stored where one of the keys comes meanwhile. */
  private static boolean storeNew(RespCall call) {
    Map<ByteBuffer, Integer> stored = new HashMap<>();
    boolean isNew = true;
    boolean ends = false;
    try {
      for (int i = call.request.count() - 2; i > 0 && isNew; i -= 2) {
        ByteBuffer key = call.request.argument(i).asByteBuffer();
        if (!stored.containsKey(key)) {
          isNew = call.store.putIfAbsent(call.key(i), call.string(i + 1));
          if (isNew) {
            stored.put(key, i);
          }
        }
      }
      ends = true;
    } finally {
      if (!ends || !isNew) {
        stored
            .values()
            .forEach(its -> {
              boolean _ = call.store.remove(call.key(its), call.string(its + 1));
            });
      }
    }
    return isNew;
  }
}
