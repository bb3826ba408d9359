package pando.index.orca;

import pando.index.orca.records.RecordCache;

/**
 * A session's claim of the way of a key that is not cached.
 *
 * <p>A session that loads or changes such a key first {@linkplain #claim claims} a way for it.
 * While the way is BUSY, other sessions that want the key wait; so no older value and no older
 * absence can be cached. The claim ends when the way is {@linkplain #install given a kind} or
 * {@linkplain #giveUp given up}. No lock is held meanwhile. A session that has a claim waits for no
 * other one.
 */
final class RecordClaim extends RecordWay {
  private final OrcaContext context;
  private final Cleaner cleaner;
  private boolean claimed;

  RecordClaim(OrcaContext context, Cleaner cleaner) {
    super(context);
    this.context = context;
    this.cleaner = cleaner;
    context.ends.add(this::giveUp);
  }

  /**
   * Claims a way for a key that is not cached; makes room for it if there is none.
   *
   * @return {@code false} if the key is cached
   * @throws pando.fabric.StalledException if no record can be evicted
   */
  boolean claim(long wanted) {
    int pauses = 0;
    while (!lock(wanted)) {
      boolean done = takeWay();
      unlock();
      if (done) {
        claimed = true;
        return true;
      }
      if (cleaner.makeRoom(home) == 0) {
        context.pause(pauses++, "no record of a bucket can be evicted", wanted);
      }
    }
    unlock();
    return false;
  }

  /**
   * Claims a way for a key that is not cached, if there is room. Waits for no claim, so that a
   * session may have several.
   */
  boolean tryClaim(long wanted) {
    claimed = !lock(wanted) && takeWay();
    unlock();
    return claimed;
  }

  private boolean takeWay() {
    if (records.twins() && !both && !records.hasColdWay(home)) {
      records.unlock(home);
      records.lockBoth(home, backoff);
      both = true;
      if (look()) {
        // Cached meanwhile: the next attempt finds it.
        return false;
      }
    }
    bucket = home;
    if (both) {
      chooseBucket();
    }
    way = records.victim(bucket);
    if (way == RecordCache.NONE) {
      return false;
    }
    context.use.countAdmission(kind() != RecordCache.FREE);
    records.setKey(bucket, way, key);
    records.setCount(bucket, way, 0);
    setKind(RecordCache.BUSY, 0);
    return true;
  }

  /** Chooses the twin if only that has room; keeps the home's twin bit as it must be. */
  private void chooseBucket() {
    long twin = RecordCache.twin(home);
    if (!records.hasColdWay(home) && records.hasColdWay(twin)) {
      bucket = twin;
      records.setTwinBit(home, true);
    } else {
      records.setTwinBit(home, hasKeysOfHome(twin));
    }
  }

  private boolean hasKeysOfHome(long twin) {
    for (int i = 0; i < RecordCache.WAYS; i++) {
      if (records.kind(twin, i) != RecordCache.FREE && records.home(records.key(twin, i)) == home) {
        return true;
      }
    }
    return false;
  }

  /** Locks the claimed way, to install it. */
  void lockClaimed() {
    boolean found = lock(key);
    assert found && kind() == RecordCache.BUSY : "key=" + key;
  }

  /** Ends the claim: gives the way, which is locked, a kind and a value, and unlocks it. */
  void install(int kind, int slot, long value) {
    setValue(value);
    setKind(kind, slot);
    claimed = false;
    unlock();
  }

  /** Notes that the way was given a kind otherwise. */
  void end() {
    claimed = false;
  }

  /** Ends the claim, if there is one, without a record. */
  void giveUp() {
    if (claimed) {
      lockClaimed();
      install(RecordCache.FREE, 0, 0);
    }
  }
}
