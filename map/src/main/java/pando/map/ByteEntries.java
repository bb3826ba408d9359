package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableByteSession;
import pando.index.blob.Blobs;
import pando.index.bytes.BatchFailure;
import pando.index.bytes.BatchSize;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteSession;
import pando.map.codec.ValueCodec;

/** The entries of an index of byte strings. */
final class ByteEntries<K, V> extends Entries<K, V> {
  private final ByteSession session;
  private final boolean isRemote;
  private final KeyBytes<K> keys;
  private final ValueCodec<V> values;
  private final Encoder<K> keyEncoder;
  private final Encoder<V> valueEncoder;
  private final Encoder<V> expectedEncoder;

  /** The encoding of the key that this session went to. */
  private MemorySegment key = MemorySegment.NULL;

  /**
   * Takes a session.
   *
   * @param isRemote whether its operations wait for other processes, so that batches go together
   */
  ByteEntries(ByteSession session, boolean isRemote, KeyBytes<K> keys, ValueCodec<V> values) {
    this.session = session;
    this.isRemote = isRemote;
    this.keys = keys;
    this.values = values;
    this.keyEncoder = keys.encoder();
    this.valueEncoder = new Encoder<>(values);
    this.expectedEncoder = new Encoder<>(values);
  }

  /** Returns the session of the index. */
  ByteSession session() {
    return session;
  }

  @Override
  void seek(K wanted) {
    key = encodedKey(wanted);
  }

  @Override
  boolean isWithin(Bounds bounds) {
    return bounds.contains(key);
  }

  private static <T> MemorySegment encoded(Encoder<T> encoder, T value) {
    encoder.encode(value);
    MemorySegment encoding = encoder.encoding();
    encoder.forget();
    return encoding;
  }

  private MemorySegment encodedKey(K wanted) {
    return keys.checked(encoded(keyEncoder, wanted));
  }

  private V decoded(MemorySegment bytes) {
    return values.decode(bytes, 0, (int) bytes.byteSize());
  }

  private @Nullable V valueIf(boolean found) {
    return found ? decoded(session.value()) : null;
  }

  /**
   * Returns the value that this session has just taken out of an entry.
   *
   * @throws pando.fabric.UnknownOutcomeException if its codec throws
   */
  private @Nullable V takenIf(boolean taken, MemorySegment itsKey) {
    try {
      return valueIf(taken);
    } catch (Throwable e) {
      throw Blobs.unreturned(keys.text(itsKey), e);
    }
  }

  @Override
  @Nullable V get() {
    return valueIf(session.get(key));
  }

  @Override
  boolean get(ValueReader reader) {
    boolean found = session.get(key);
    if (found) {
      reader.read(session.value(), 0, (int) session.value().byteSize());
    }
    return found;
  }

  @Override
  boolean contains() {
    return session.get(key);
  }

  @Override
  boolean contains(V value) {
    expectedEncoder.encode(value);
    return session.get(key)
        && expectedEncoder.isAt(session.value(), 0, (int) session.value().byteSize());
  }

  @Override
  @Nullable V put(V value) {
    return takenIf(session.put(key, encoded(valueEncoder, value)), key);
  }

  @Override
  @Nullable V putIfAbsent(V value) {
    return valueIf(!session.putIfAbsent(key, encoded(valueEncoder, value)));
  }

  @Override
  @Nullable V replace(V value) {
    return takenIf(session.update(key, encoded(valueEncoder, value)), key);
  }

  @Override
  boolean replace(V expected, V value) {
    return session.replace(key, encoded(expectedEncoder, expected), encoded(valueEncoder, value));
  }

  @Override
  @Nullable V remove() {
    return takenIf(session.remove(key), key);
  }

  @Override
  boolean remove(V expected) {
    return session.remove(key, encoded(expectedEncoder, expected));
  }

  @Override
  void discard() {
    session.discard(key);
  }

  @Override
  boolean find(@Nullable K wanted, boolean down, boolean included, Bounds bounds) {
    if (bounds.isEmpty()) {
      return false;
    }
    boolean found =
        wanted == null
            ? findEnd(down, bounds)
            : findNear(encodedKey(wanted), down, included, bounds);
    // A search ends at most beyond the end that it goes to.
    return found && !(down ? bounds.isBelow(session.key()) : bounds.isAbove(session.key()));
  }

  private boolean findEnd(boolean down, Bounds bounds) {
    if (!down) {
      return session.ceiling(bounds.first());
    }
    MemorySegment end = bounds.end();
    return end == null ? session.last() : session.lower(end);
  }

  private boolean findNear(MemorySegment from, boolean down, boolean included, Bounds bounds) {
    if (down ? bounds.isAbove(from) : bounds.isBelow(from)) {
      return findEnd(down, bounds);
    }
    if (down) {
      return included ? session.floor(from) : session.lower(from);
    }
    return included ? session.ceiling(from) : session.higher(from);
  }

  @Override
  K foundKey() {
    return keys.decode(session.key());
  }

  @Override
  V foundValue() {
    return decoded(session.value());
  }

  @Override
  @Nullable V takeFound() {
    return takenIf(session.remove(session.key(), session.value()), session.key());
  }

  @Override
  void getAll(EntryBatch<K, V> batch) {
    if (isRemote) {
      getTogether(batch);
      return;
    }
    for (int i = 0; i < batch.size(); i++) {
      seek(batch.key(i));
      batch.setValue(i, get());
    }
  }

  private void getTogether(EntryBatch<K, V> batch) {
    List<MemorySegment> wanted = new ArrayList<>(batch.size());
    for (int i = 0; i < batch.size(); i++) {
      wanted.add(ByteArguments.copyOf(encodedKey(batch.key(i))));
    }
    session.getAll(
        wanted,
        (place, value, failure) -> {
          if (failure != null) {
            throw failure;
          }
          batch.setValue(place, value == null ? null : decoded(value));
          return true;
        });
  }

  @Override
  void putAll(EntryBatch<K, V> batch) {
    if (isRemote) {
      putTogether(batch);
      return;
    }
    for (int i = 0; i < batch.size(); i++) {
      seek(batch.key(i));
      session.store(key, encoded(valueEncoder, batch.presentValue(i)));
    }
  }

  /** Stores some at a time, so that long encodings do not fill memory. */
  private void putTogether(EntryBatch<K, V> batch) {
    List<MemorySegment> wanted = new ArrayList<>();
    List<MemorySegment> stored = new ArrayList<>();
    long bytes = 0;
    for (int i = 0; i < batch.size(); i++) {
      wanted.add(ByteArguments.copyOf(encodedKey(batch.key(i))));
      stored.add(ByteArguments.copyOf(encoded(valueEncoder, batch.presentValue(i))));
      bytes += wanted.getLast().byteSize() + stored.getLast().byteSize();
      if (bytes >= BatchSize.BYTES || i == batch.size() - 1) {
        BatchFailure failure = new BatchFailure();
        session.storeAll(wanted, stored, (_, _, why) -> failure.add(why));
        failure.check();
        wanted.clear();
        stored.clear();
        bytes = 0;
      }
    }
  }

  @Override
  void copy(Bounds bounds, boolean down, EntryBatch<K, V> batch) {
    batch.clear();
    if (bounds.isEmpty()) {
      return;
    }
    MemorySegment first = bounds.first();
    MemorySegment end = bounds.end();
    Copying copying = new Copying(batch);
    if (down) {
      session.scanDown(end, first, batch.capacity(), copying::add);
    } else {
      session.scan(first, end, batch.capacity(), copying::add);
    }
  }

  /** Fills a batch. */
  private final class Copying {
    private final EntryBatch<K, V> batch;
    private long bytes;

    Copying(EntryBatch<K, V> batch) {
      this.batch = batch;
    }

    /** Adds an entry; returns whether there is room for the next one. */
    boolean add(MemorySegment itsKey, MemorySegment value) {
      if (batch.withValues()) {
        batch.setValue(batch.size(), decoded(value));
        bytes += value.byteSize();
      }
      if (batch.withKeys()) {
        batch.add(keys.decode(itsKey));
      } else {
        batch.add();
      }
      boolean hasRoom = batch.size() < batch.capacity() && bytes < EntryBatch.BYTES_MAX;
      if (!hasRoom) {
        batch.endAt(MemorySegment.ofArray(itsKey.toArray(ValueLayout.JAVA_BYTE)));
      }
      return hasRoom;
    }
  }

  @Override
  void defer() {
    if (session instanceof DurableByteSession durable) {
      DurableByteSession _ = durable.deferred();
    }
  }

  @Override
  void whenSafe(Consumer<@Nullable RuntimeException> task) {
    if (session instanceof DurableByteSession durable) {
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
    session.close();
  }
}
