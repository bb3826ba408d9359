package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.Store.Exchange;
import pando.door.resp.TestDoor.Form;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;

/** Threads that store, let expire and remove what is due, at the same keys. */
@Timeout(600)
class ExpiryRacesTest {
  private static final int THREADS = 4;
  private static final int STEPS = Seeds.count(5_000, 50_000, 500_000);
  private static final int KEYS = 3;
  private static final long NOW = 1_000;

  /** Deadlines are few, so that a key often has one again that it had before. */
  private static final long[] DEADLINES = {0, 0, 1, 2, NOW - 1, NOW, NOW + 1, NOW + 2};

  /** Keyspaces of doors to one index: one, or two that share it. */
  private record Doors(Fabric fabric, ByteIndex index, List<Keyspace> keyspaces)
      implements AutoCloseable {
    static Doors open(Form form) {
      Fabric fabric = Pools.open(2, 128 << 20, 1);
      ByteIndex index = ByteIndex.create(fabric, TestDoor.indexOptions());
      List<Keyspace> keyspaces =
          form == Form.OWN
              ? List.of(new OwnKeyspace(index, index, () -> NOW))
              : List.of(new SharedKeyspace(index, () -> NOW), new SharedKeyspace(index, () -> NOW));
      return new Doors(fabric, index, keyspaces);
    }

    Store store(int number) {
      return keyspaces
          .get(number % keyspaces.size())
          .newStore(task -> {
            throw new AssertionError("a task for later: " + task);
          });
    }

    MemorySegment key(String name) {
      return bytes(keyspaces.getFirst().markBytes == 0 ? name : "\0" + name);
    }

    MemorySegment string(String text, long deadline) {
      Keyspace keyspace = keyspaces.getFirst();
      byte[] room = keyspace.room(text.length(), deadline);
      MemorySegment.copy(bytes(text), JAVA_BYTE, 0, room, keyspace.markBytes, text.length());
      return keyspace.stored(room, deadline);
    }

    @Override
    public void close() {
      try (fabric) {
        index.close();
      }
    }
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldKeepTimesInStep(Form form) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(90));
    try (Doors doors = Doors.open(form)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      AtomicInteger left = new AtomicInteger(THREADS);
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            for (int step = 0; step < STEPS; step++) {
              store.begin();
              change(doors, store, own);
            }
          } finally {
            left.decrementAndGet();
          }
          return null;
        });
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            while (left.get() > 0) {
              store.begin();
              store.removeDue(2);
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
      try (Store store = doors.store(0)) {
        store.begin();
        while (store.removeDue(1_000) > 0) {}
      }
      check(doors, form);
    }
  }

  private static void change(Doors doors, Store store, SplittableRandom random) {
    MemorySegment key = doors.key("k" + random.nextInt(KEYS));
    MemorySegment other = doors.key("k" + random.nextInt(KEYS));
    long deadline = DEADLINES[random.nextInt(DEADLINES.length)];
    MemorySegment string = doors.string("v" + random.nextInt(2), deadline);
    boolean flag = random.nextBoolean();
    switch (random.nextInt(8)) {
      case 0 -> store.put(key, string);
      case 1 -> store.putIfAbsent(key, string);
      case 2 -> store.exchange(key, string, new Exchange(flag, false, false));
      case 3 -> store.exchange(key, doors.string("keeps", 0), new Exchange(flag, false, true));
      case 4 -> {
        if (store.find(key)) {
          boolean _ = store.expire(key, store.value(), deadline == 0 ? NOW + 3 : deadline);
        }
      }
      case 5 -> {
        if (store.find(key)) {
          boolean _ = store.setDeadline(key, store.value(), 0);
        }
      }
      case 6 -> store.remove(key);
      default -> {
        try {
          store.rename(key, other, flag);
        } catch (Refusal e) {
          assertThat(e).hasMessage("ERR no such key");
        }
      }
    }
  }

  /** Nothing that is due is there, each key that expires has an entry, and counts are exact. */
  private static void check(Doors doors, Form form) {
    Keyspace keyspace = doors.keyspaces().getFirst();
    Set<String> wanted = new HashSet<>();
    int[] keys = new int[1];
    try (ByteSession session = doors.index().session();
        Times times = new Times(keyspace)) {
      for (int i = 0; i < KEYS; i++) {
        MemorySegment key = doors.key("k" + i);
        if (session.get(key)) {
          keys[0]++;
          long deadline = keyspace.deadline(session.value());
          assertThat(deadline).isIn(0L, NOW, NOW + 1, NOW + 2, NOW + 3);
          if (deadline != 0) {
            wanted.add(deadline + " k" + i);
          }
        }
      }
      Set<String> found = new HashSet<>();
      times
          .before(Long.MAX_VALUE, Integer.MAX_VALUE)
          .forEach(due -> {
            String key = new String(due.key().toArray(JAVA_BYTE), ISO_8859_1);
            found.add(due.millis() + " " + key.substring(keyspace.markBytes));
          });
      assertThat(found).containsAll(wanted);
    }
    if (form == Form.OWN) {
      assertThat(keyspace.counts()[0]).isEqualTo(keys[0]);
      assertThat(keyspace.timedCounts()[0]).isEqualTo(wanted.size());
    }
  }

  /** Each thread has a key of its own, which the others only sweep. */
  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldNeverRemoveWhatIsStoredInPlaceOfWhatIsDue(Form form) throws Exception {
    try (Doors doors = Doors.open(form)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      AtomicInteger left = new AtomicInteger(THREADS);
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            MemorySegment key = doors.key("own" + number);
            for (int step = 0; step < STEPS; step++) {
              store.begin();
              store.put(key, doors.string("due", NOW - 1));
              assertThat(store.find(key)).isFalse();
              MemorySegment string = doors.string("v" + step, step % 2 == 0 ? 0 : NOW);
              if (step % 3 == 0) {
                store.put(key, string);
              } else {
                assertThat(store.putIfAbsent(key, string)).isTrue();
              }
              assertThat(store.findString(key)).isTrue();
              assertThat(store.value().mismatch(string)).isEqualTo(-1);
            }
          } finally {
            left.decrementAndGet();
          }
          return null;
        });
      }
      for (int i = 0; i < 2; i++) {
        int number = i;
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            while (left.get() > 0) {
              store.begin();
              store.removeDue(10);
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"OWN", "SHARED"})
  void shouldLetOneStoreInPlaceOfWhatIsDue(Form form) throws Exception {
    int rounds = STEPS / 10;
    AtomicInteger stored = new AtomicInteger();
    CyclicBarrier barrier = new CyclicBarrier(THREADS);
    try (Doors doors = Doors.open(form)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            MemorySegment key = doors.key("k");
            for (int round = 0; round < rounds; round++) {
              store.begin();
              if (number == 0) {
                assertThat(stored.getAndSet(0)).isEqualTo(round == 0 ? 0 : 1);
                store.put(key, doors.string("due", 1 + round % 3));
              }
              barrier.await();
              if (number == THREADS - 1) {
                store.removeDue(10);
              }
              if (store.putIfAbsent(key, doors.string("v" + number, round % 2 == 0 ? 0 : NOW))) {
                stored.incrementAndGet();
              }
              barrier.await();
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
    }
  }

  /** A set without members is no key, also if it gets another deadline meanwhile. */
  @Test
  void shouldLeaveNoEmptySet() throws Exception {
    try (Doors doors = Doors.open(Form.OWN)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      SplittableRandom random = new SplittableRandom(Seeds.of(97));
      for (int i = 0; i < THREADS; i++) {
        int number = i;
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (Store store = doors.store(number)) {
            for (int step = 0; step < STEPS; step++) {
              store.begin();
              changeSet(doors, store, own);
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
      try (Store store = doors.store(0)) {
        store.begin();
        while (store.removeDue(1_000) > 0) {}
        MemorySegment key = doors.key("set");
        boolean found = store.find(key);
        byte[] members = {OwnKeyspace.DATABASES};
        long count = store.keys(members, new byte[] {OwnKeyspace.DATABASES + 1}).size();
        assertThat(found).isEqualTo(count > 0);
        assertThat(doors.keyspaces().getFirst().counts()[0]).isEqualTo(found ? 1 : 0);
      }
    }
  }

  private static void changeSet(Doors doors, Store store, SplittableRandom random) {
    MemorySegment key = doors.key("set");
    byte[] member = new byte[OwnKeyspace.MEMBER_AT + 1];
    member[OwnKeyspace.MEMBER_AT] = (byte) random.nextInt(2);
    switch (random.nextInt(5)) {
      case 0, 1 -> store.sets().add(0, key, 1, List.of(member), true);
      case 2 -> {
        List<byte[]> one = new ArrayList<>(List.of(member));
        store
            .sets()
            .remove(
                0,
                key,
                members -> {
                  List<byte[]> chosen = List.copyOf(one);
                  chosen.forEach(each -> System.arraycopy(members, 0, each, 0, members.length));
                  one.clear();
                  return chosen;
                });
      }
      case 3 -> {
        if (store.find(key)) {
          boolean _ = store.expire(key, store.value(), NOW - 1 + random.nextInt(3));
        }
      }
      default -> store.removeDue(10);
    }
  }
}
