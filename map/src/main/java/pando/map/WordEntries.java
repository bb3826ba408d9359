package pando.map;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableSession;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.EntryVisitor;
import pando.index.Session;
import pando.index.blob.Blobs;

/** The entries of an index whose keys and values are words. */
final class WordEntries<K, V> extends Entries<K, V> {
  /*
   * A word that is not in an entry is freed once: a new one by the operation that made it and did
   * not put it into the entry, an old one by the operation that took it out. Where it is not known
   * whether a word is in the entry, it is never freed.
   */

  /** Loads of the same word in a row that fail, before its value counts as damaged. */
  private static final int LOADS_MAX = 8;

  private final Session session;
  private final CodecWords<K> keys;
  private final ValueWords<V> values;
  private final Scanned scanned = new Scanned();

  /** The word of the key that this session went to. */
  private long key;

  /** The word whose value was not there when it was loaded last, and how often in a row. */
  private long goneWord;

  private int goneTimes;

  WordEntries(Session session, CodecWords<K> keys, ValueWords<V> values) {
    this.session = session;
    this.keys = keys;
    this.values = values;
  }

  @Override
  void seek(K wanted) {
    key = keys.toWord(wanted);
  }

  @Override
  boolean isWithin(Bounds bounds) {
    return isWithin(bounds, key);
  }

  private boolean isWithin(Bounds bounds, long word) {
    return bounds.areAll()
        || (!bounds.isEmpty() && keys.first(bounds) <= word && word <= keys.last(bounds));
  }

  @Override
  @Nullable V get() {
    return load() ? values.value(session.value()) : null;
  }

  @Override
  boolean get(ValueReader reader) {
    boolean found = load();
    if (found) {
      values.read(session.value(), reader);
    }
    return found;
  }

  /** Loads the value of the key; returns whether there is one. */
  private boolean load() {
    while (session.get(key)) {
      if (load(key, session.value())) {
        return true;
      }
    }
    return false;
  }

  /** Loads the value of a word; returns {@code false} if the entry must be read again. */
  private boolean load(long itsKey, long word) {
    if (values.load(itsKey, word)) {
      goneTimes = 0;
      return true;
    }
    goneTimes = word == goneWord ? goneTimes + 1 : 1;
    goneWord = word;
    if (goneTimes == LOADS_MAX) {
      goneTimes = 0;
      throw damaged(itsKey, word);
    }
    return false;
  }

  /** Returns whether the key has the value that is expected. */
  private boolean hasExpected() {
    return load() && values.isExpected(session.value());
  }

  private static CorruptNodeException damaged(long itsKey, long word) {
    return new CorruptNodeException(
        Blobs.address(word),
        "is not the value of its key: key=%s, word=%s".formatted(itsKey, Long.toHexString(word)));
  }

  @Override
  boolean contains() {
    return session.get(key);
  }

  @Override
  boolean contains(V value) {
    values.expect(value);
    return hasExpected();
  }

  @Override
  @Nullable V put(V value) {
    try {
      return putWord(value) ? taken(key, session.value()) : null;
    } catch (PoolFullException e) {
      return replaceInFullPool(value, e);
    }
  }

  /** Stores a value; returns whether it has replaced a word, which the session has then. */
  private boolean putWord(V value) {
    long word = values.store(key, value);
    try {
      return session.put(key, word);
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
  }

  @Override
  @Nullable V putIfAbsent(V value) {
    long word = values.store(key, value);
    boolean present = false;
    try {
      while (!present && !session.putIfAbsent(key, word)) {
        present = load(key, session.value());
      }
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
    if (!present) {
      return null;
    }
    values.free(key, word);
    return values.value(session.value());
  }

  @Override
  @Nullable V replace(V value) {
    try {
      return updateWord(value) ? taken(key, session.value()) : null;
    } catch (PoolFullException e) {
      return replaceInFullPool(value, e);
    }
  }

  /** As {@link #putWord}, if there is a word. */
  private boolean updateWord(V value) {
    long word = values.store(key, value);
    boolean replaced = false;
    try {
      replaced = session.update(key, word);
    } catch (Throwable e) {
      freeUnused(word, e);
      throw e;
    }
    if (!replaced) {
      values.free(key, word);
    }
    return replaced;
  }

  @Override
  boolean replace(V expected, V value) {
    if (values.areInline()) {
      return session.replace(key, values.store(key, expected), values.store(key, value));
    }
    values.expect(expected);
    while (hasExpected()) {
      if (replaceWord(session.value(), value)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Replaces the value of the key by one of the same size, for which the pool has no other room;
   * returns the value before.
   */
  private V replaceInFullPool(V value, PoolFullException full) {
    while (load()) {
      long before = session.value();
      V replaced = values.value(before);
      if (replaceWord(before, value)) {
        return replaced;
      }
    }
    throw full;
  }

  /** Replaces a word, if the key has it still, by that of a new value; returns whether it had. */
  private boolean replaceWord(long before, V value) {
    boolean replaced = false;
    try {
      long word = values.storeInPlaceOf(before, key, value);
      try {
        replaced = session.replace(key, before, word);
      } catch (Throwable e) {
        freeUnused(word, e);
        throw e;
      }
      values.free(key, replaced ? before : word);
      return replaced;
    } finally {
      values.endReplacement();
    }
  }

  @Override
  @Nullable V remove() {
    return session.remove(key) ? taken(key, session.value()) : null;
  }

  @Override
  boolean remove(V expected) {
    if (values.areInline()) {
      return session.remove(key, values.store(key, expected));
    }
    values.expect(expected);
    while (hasExpected()) {
      long before = session.value();
      if (session.remove(key, before)) {
        values.free(key, before);
        return true;
      }
    }
    return false;
  }

  @Override
  void discard() {
    if (values.areInline()) {
      session.discard(key);
    } else if (session.remove(key)) {
      values.free(key, session.value());
    }
  }

  /** Frees a new word after a failure, unless it may be in the entry. */
  private void freeUnused(long word, Throwable failure) {
    if (!UnknownOutcomeException.isSaidBy(failure)) {
      values.free(key, word);
    }
  }

  /**
   * Returns the value of a word that this session has just taken out of its entry, and frees it.
   *
   * @throws UnknownOutcomeException if the value is lost, or its codec throws
   */
  private V taken(long itsKey, long word) {
    boolean isLost = false;
    try {
      isLost = !values.load(itsKey, word);
      if (isLost) {
        throw damaged(itsKey, word);
      }
      return values.value(word);
    } catch (Throwable e) {
      throw Blobs.unreturned(Long.toString(itsKey), e);
    } finally {
      if (!isLost) {
        values.free(itsKey, word);
      }
    }
  }

  @Override
  boolean find(@Nullable K wanted, boolean down, boolean included, Bounds bounds) {
    if (bounds.isEmpty()) {
      return false;
    }
    long end = down ? keys.last(bounds) : keys.first(bounds);
    long from = wanted == null ? end : keys.toWord(wanted);
    boolean isBefore = down ? from > end : from < end;
    boolean found = isBefore ? findNear(end, down, true) : findNear(from, down, included);
    return found && isWithin(bounds, session.key());
  }

  private boolean findNear(long from, boolean down, boolean included) {
    if (down) {
      return included ? session.floor(from) : session.lower(from);
    }
    return included ? session.ceiling(from) : session.higher(from);
  }

  @Override
  K foundKey() {
    return keys.fromWord(session.key());
  }

  @Override
  @Nullable V foundValue() {
    long word = session.value();
    return load(session.key(), word) ? values.value(word) : null;
  }

  @Override
  @Nullable V takeFound() {
    long itsKey = session.key();
    long word = session.value();
    return session.remove(itsKey, word) ? taken(itsKey, word) : null;
  }

  @Override
  void getAll(EntryBatch<K, V> batch) {
    int count = batch.size();
    for (int i = 0; i < count; i++) {
      seek(batch.key(i));
      scanned.keys[i] = key;
    }
    session.getAll(scanned.keys, 0, count, scanned.words, scanned.found);
    int present = 0;
    for (int i = 0; i < count; i++) {
      batch.setValue(i, null);
      if (scanned.found[i]) {
        scanned.keys[present] = scanned.keys[i];
        scanned.words[present] = scanned.words[i];
        scanned.places[present++] = i;
      }
    }
    int loaded =
        values.loadAll(
            scanned.keys,
            scanned.words,
            present,
            (number, value) -> batch.setValue(scanned.places[number], value));
    for (int number = 0; number < present; number++) {
      int place = scanned.places[number];
      if (number >= loaded || batch.value(place) == null) {
        key = scanned.keys[number];
        batch.setValue(place, get());
      }
    }
  }

  @Override
  void putAll(EntryBatch<K, V> batch) {
    for (int i = 0; i < batch.size(); i++) {
      seek(batch.key(i));
      V value = batch.presentValue(i);
      if (values.areInline()) {
        scanned.keys[i] = key;
        scanned.words[i] = values.store(key, value);
      } else {
        putBlob(value);
      }
    }
    if (values.areInline()) {
      session.putAll(scanned.keys, 0, batch.size(), scanned.words);
    }
  }

  private void putBlob(V value) {
    try {
      if (putWord(value)) {
        values.free(key, session.value());
      }
    } catch (PoolFullException e) {
      V _ = replaceInFullPool(value, e);
    }
  }

  @Override
  void copy(Bounds bounds, boolean down, EntryBatch<K, V> batch) {
    batch.clear();
    if (bounds.isEmpty()) {
      return;
    }
    long first = keys.first(bounds);
    long last = keys.last(bounds);
    scanned.size = 0;
    if (down) {
      session.scanDown(last, first, batch.capacity(), scanned);
    } else {
      session.scan(first, last, batch.capacity(), scanned);
    }
    int size = scanned.size;
    if (batch.withValues()) {
      size = values.loadAll(scanned.keys, scanned.words, size, batch::setValue);
    }
    addTo(batch, size);
    if (size == batch.capacity() || size < scanned.size) {
      batch.endAt(keys.bytes(scanned.keys[size - 1]));
    }
  }

  /** Adds the keys that were scanned, and reads entries again whose values were gone. */
  private void addTo(EntryBatch<K, V> batch, int size) {
    for (int i = 0; i < size; i++) {
      if (batch.withKeys()) {
        batch.add(keys.fromWord(scanned.keys[i]));
      } else {
        batch.add();
      }
      if (batch.withValues() && batch.value(i) == null) {
        key = scanned.keys[i];
        batch.setValue(i, get());
      }
    }
  }

  /** What a scan has found, or a batch stores. */
  private static final class Scanned implements EntryVisitor {
    private final long[] keys = new long[EntryBatch.ENTRIES_MAX];
    private final long[] words = new long[EntryBatch.ENTRIES_MAX];

    /**
     * For keys that are looked up together: whether each is there, and where those are that are.
     */
    private final boolean[] found = new boolean[EntryBatch.ENTRIES_MAX];

    private final int[] places = new int[EntryBatch.ENTRIES_MAX];
    private int size;

    @Override
    public boolean visit(long key, long word) {
      keys[size] = key;
      words[size] = word;
      size++;
      return true;
    }
  }

  @Override
  void defer() {
    if (session instanceof DurableSession durable) {
      DurableSession _ = durable.deferred();
    }
  }

  @Override
  void whenSafe(Consumer<@Nullable RuntimeException> task) {
    if (session instanceof DurableSession durable) {
      durable.whenSafe(task::accept);
    } else {
      task.accept(null);
    }
  }

  @Override
  void alone(Runnable action) {
    session.alone(action);
  }

  @Override
  public void close() {
    try (session) {
      values.close();
    }
  }
}
