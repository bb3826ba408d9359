package pando.index.blob;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.PoolView;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.CorruptNodeException;
import pando.index.pool.Workers;
import pando.index.session.Failures;

/**
 * One thread's values of any length in the 8 bytes of an entry: {@link #store} makes the word that
 * goes into the entry, {@link #load} finds what a word stands for, and {@link #free} gives back
 * what a word stood for. Not thread-safe.
 */
public final class Blobs implements AutoCloseable {
  /*
   * A value of up to 7 bytes is in the word. A longer one is a blob in the pool, which never
   * changes: a session that changes an entry stores a new blob, puts its word into the entry, and then frees
   * the blob of the word that was there before. The index says which that was, so each blob has one
   * operation that frees it.
   *
   * A blob is free at once, also while others have just read its word. Their READ brings the old
   * blob, or what has taken its place, of which the sum is wrong: they read the entry again.
   *
   * Two blobs of the same key have the same word only if both are in the same place, and their
   * stamps are the same by chance, 1 in 8,192. An operation that compares the word of an entry with
   * one that it read before may be deceived where it waited that long, and by that chance.
   *
   * A value that is too long for one blob has parts, and a blob with their words, behind a number
   * that is drawn for the value. Parts are stored for that number, not for the key: so a part of
   * another value of the key, in the same place, is not taken for one of this.
   *
   * In a full pool there is no room for a new blob before the old one is freed. So a process keeps
   * a place of each size that it has stored. Where a value is replaced by one of the same size, the
   * new blob goes there, and the place of the old one is kept from then on.
   *
   * A failure to free would have to be thrown by an operation that has taken effect. So a word
   * waits, and is freed before the next blob is stored.
   *
   * Where several processes serve the index, one of them may be lost, with changes that were in its
   * cache alone. Then words are in entries again that it had taken out, and whose blobs it had
   * freed: the next operation that takes such a word out would free its blob a second time, or one
   * that has taken its place. So a blob is freed by a CAS of its sum to a mark, before anybody can
   * store in its place. The sum is that of this key, word and value: of two that free a blob one
   * changes it, and of another blob nobody does. A list of parts is freed so, and by one operation;
   * that operation alone frees the parts, which need no mark.
   */

  /** READs that are posted together. */
  private static final int TOGETHER = 32;

  private static final long[] NO_PARTS = new long[0];
  private static final int NO_CLASS = -1;

  private final BlobSpace space;
  private final BlobClasses classes;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;

  /** Local offset of the blobs that are written or have been READ. */
  private final long buffer;

  private final long bufferEnd;
  private final VerbList list = new VerbList();
  private final PoolView view = new PoolView();

  /** Blobs to free: their keys and words. */
  private long[] freedKeys = new long[4];

  private long[] freedWords = new long[4];

  /** Their sums, 0 where they are not known. */
  private long[] freedSums = new long[4];

  private int freed;

  /** The size of the place that the reserve has lent, {@link #NO_CLASS} if it has lent none. */
  private int lentClass = NO_CLASS;

  private boolean closed;
  private MemorySegment found;
  private long foundAt;
  private int foundLength;

  /** The word of the blob that was written or found there last, and its sum. */
  private long loadedWord;

  private long loadedSum;

  /** Receives what {@link #loadAll} finds. */
  public interface Receiver {
    /**
     * Receives a value.
     *
     * @param number of the word, from 0
     * @param bytes which hold the value until this method returns
     * @param offset of the value
     * @param length of the value, -1 if its blob is not there any more
     */
    void receive(int number, MemorySegment bytes, long offset, int length);
  }

  /** Opens blobs for one thread. */
  public Blobs(BlobSpace space) {
    this.space = space;
    this.classes = space.classes();
    this.buffer = Worker.CALL_BYTES_MAX;
    this.bufferEnd = buffer + Math.max(classes.bytesMax(), TOGETHER * 1024);
    this.registered = space.fabric().register(bufferEnd);
    this.worker = Workers.open(space.fabric(), registered);
    this.memory = worker.memory();
    this.found = memory;
    space.opened(this);
  }

  /**
   * Stores a value; returns the word for its entry.
   *
   * @param key of the entry
   * @param bytes which hold the value
   * @throws IllegalArgumentException if the value is longer than {@link BlobSpace#lengthMax}
   * @throws PandoException as the operations of a {@link pando.index.Session}; nothing is stored
   */
  public long store(long key, MemorySegment bytes, long offset, int length) {
    if (length <= BlobWord.SHORT_MAX) {
      return BlobWord.ofShort(bytes, offset, length);
    }
    if (length > space.lengthMax()) {
      throw new IllegalArgumentException(
          "the value is too long: valueBytes=%s, maximum=%s".formatted(length, space.lengthMax()));
    }
    freeWaiting();
    return length <= space.partMax()
        ? storeBlob(key, bytes, offset, length, false)
        : storeParts(key, bytes, offset, length);
  }

  /**
   * Stores a value that is to replace another one, as {@link #store} does. In a full pool it goes
   * to the place that is kept for that, if both values have the same size; another session that
   * wants that place waits until {@link #endReplacement}, which must follow in any case.
   *
   * @param before word of the other value
   * @param key of the entry
   * @throws PoolFullException if there is no room, and the values have other sizes or no place is
   *     kept
   */
  public long storeInPlaceOf(long before, long key, MemorySegment bytes, long offset, int length) {
    endReplacement();
    try {
      return store(key, bytes, offset, length);
    } catch (PoolFullException e) {
      int sizeClass = length <= space.partMax() ? sizeClass(length) : NO_CLASS;
      boolean isOfSize =
          BlobWord.isBlob(before)
              && !BlobWord.hasParts(before)
              && BlobWord.sizeClass(before) == sizeClass;
      long place = isOfSize ? space.reserve().lend(sizeClass, worker) : Reserve.NONE;
      if (place == Reserve.NONE) {
        throw e;
      }
      lentClass = sizeClass;
      return storeAt(place, key, bytes, offset, length, false);
    }
  }

  /**
   * Ends a replacement, once what is in no entry any more was {@linkplain #free freed}: frees it at
   * once if it is to be kept for others. What was loaded last stays loaded if it is what was freed,
   * or if a new value was freed.
   */
  public void endReplacement() {
    if (lentClass == NO_CLASS) {
      return;
    }
    try {
      freeWaiting();
    } catch (PandoException | VirtualMachineError _) {
      // The entry has changed. What is left waits, as after any change, for the next operation.
    } finally {
      if (lentClass != NO_CLASS) {
        space.reserve().repay(lentClass, Reserve.NONE);
        lentClass = NO_CLASS;
      }
    }
  }

  private int sizeClass(int length) {
    return classes.of(BlobLayout.bytes(length));
  }

  private long storeBlob(long key, MemorySegment bytes, long offset, int length, boolean parts) {
    long address = space.allocate(worker, 0, sizeClass(length));
    return storeAt(address, key, bytes, offset, length, parts);
  }

  private long storeAt(
      long address, long key, MemorySegment bytes, long offset, int length, boolean parts) {
    int sizeClass = sizeClass(length);
    try {
      return write(address, sizeClass, key, bytes, offset, length, parts);
    } catch (UnknownOutcomeException e) {
      // The WRITE may come yet: no other blob may have the place.
      throw e;
    } catch (Throwable e) {
      // On a lost memory server it is no place to keep.
      if (lentClass == NO_CLASS || !(e instanceof MemoryServerLostException)) {
        Closing.after(e, () -> freePlace(sizeClass, address));
      }
      throw e;
    }
  }

  private long write(
      long address,
      int sizeClass,
      long key,
      MemorySegment bytes,
      long offset,
      int length,
      boolean parts) {
    long word = BlobWord.ofBlob(address, sizeClass, parts, worker.random().nextInt());
    MemorySegment.copy(bytes, offset, memory, buffer + BlobLayout.VALUE, length);
    BlobLayout.seal(memory, buffer, length, key, word);
    worker.write(address, buffer, BlobLayout.bytes(length));
    loadedWord = word;
    loadedSum = BlobLayout.sum(memory, buffer);
    return word;
  }

  private long storeParts(long key, MemorySegment bytes, long offset, int length) {
    int count = Math.ceilDiv(length, space.partMax());
    long[] words = new long[1 + count];
    long drawn = worker.random().nextLong();
    words[0] = drawn;
    int stored = 0;
    try {
      for (; stored < count; stored++) {
        int start = stored * space.partMax();
        int partLength = Math.min(length - start, space.partMax());
        words[1 + stored] = storeBlob(drawn + stored, bytes, offset + start, partLength, false);
      }
      return storeBlob(key, MemorySegment.ofArray(words), 0, words.length * Long.BYTES, true);
    } catch (Throwable e) {
      for (int part = 0; part < stored; part++) {
        long word = words[1 + part];
        Closing.after(e, () -> freeBlob(word));
      }
      throw e;
    }
  }

  /**
   * Loads a value: {@link #bytes} has it at {@link #offset} until the next operation.
   *
   * @param key of the entry
   * @param word that the entry has, or had a short while ago
   * @return {@code false} if the blob is not there any more, as the entry has changed, or if it is
   *     damaged
   */
  public boolean load(long key, long word) {
    if (!BlobWord.isBlob(word)) {
      return loadShort(word);
    }
    return isThere(key, word) && (!BlobWord.hasParts(word) || loadParts());
  }

  private boolean loadShort(long word) {
    int length = BlobWord.shortLength(word);
    memory.set(ValueLayout.JAVA_LONG, buffer, BlobWord.shortBytes(word));
    setFound(memory, buffer, length);
    return length <= BlobWord.SHORT_MAX;
  }

  /** Returns whether a blob is there; if it is, the buffer has it. */
  boolean isThere(long key, long word) {
    return space.holds(word) && loadBlob(key, word);
  }

  boolean loadBlob(long key, long word) {
    worker.read(BlobWord.address(word), buffer, classes.bytes(BlobWord.sizeClass(word)));
    return check(key, word, buffer);
  }

  /**
   * Finds a value where it is in the pool, without a copy, if it is mapped into this process and in
   * one place: {@link #bytes} has it at {@link #offset}.
   *
   * @param key of the entry
   * @param word that the entry has, and keeps while the value is looked at
   * @return {@code false} if it must be {@linkplain #load loaded}, or is damaged
   */
  public boolean view(long key, long word) {
    return room(word) >= 0
        && worker.view(BlobWord.address(word), classes.bytes(BlobWord.sizeClass(word)), view)
        && check(key, word, view.memory(), view.at());
  }

  private boolean check(long key, long word, long at) {
    return check(key, word, memory, at);
  }

  private boolean check(long key, long word, MemorySegment in, long at) {
    int bytes = classes.bytes(BlobWord.sizeClass(word));
    int length = BlobLayout.length(in, at, bytes, key, word);
    setFound(in, at + BlobLayout.VALUE, length);
    if (length < 0) {
      return false;
    }
    loadedWord = word;
    loadedSum = BlobLayout.sum(in, at);
    return true;
  }

  /** Loads the parts that the blob in the buffer lists. */
  private boolean loadParts() {
    long[] words = listed();
    int count = words.length - 1;
    if (count < 1 || count > Math.ceilDiv(space.lengthMax(), space.partMax())) {
      return false;
    }
    byte[] whole = new byte[Math.multiplyExact(count, space.partMax())];
    MemorySegment assembled = MemorySegment.ofArray(whole);
    int length = 0;
    for (int part = 0; part < count; part++) {
      long word = words[1 + part];
      if (!BlobWord.isBlob(word) || !isThere(words[0] + part, word)) {
        return false;
      }
      MemorySegment.copy(memory, foundAt, assembled, length, foundLength);
      length += foundLength;
    }
    setFound(assembled, 0, length);
    return true;
  }

  /** Returns what the blob in the buffer lists: the number drawn for the value, and the words. */
  private long[] listed() {
    long[] words = new long[foundLength / Long.BYTES];
    MemorySegment.copy(
        memory, foundAt, MemorySegment.ofArray(words), 0, (long) words.length * Long.BYTES);
    return words;
  }

  /** Returns the words of the parts that the blob lists that was loaded last. */
  long[] partWords() {
    long[] words = listed();
    return Arrays.copyOfRange(words, Math.min(1, words.length), words.length);
  }

  /**
   * READs how many bytes of the place of a blob are taken: not its slack.
   *
   * @throws CorruptNodeException if there can be no such blob
   */
  int bytesHeld(long word) {
    if (space.holds(word)) {
      worker.read(BlobWord.address(word), buffer, BlobLayout.HEADER_BYTES);
      int length = BlobLayout.length(memory, buffer);
      if (length >= 0 && BlobLayout.bytes(length) <= classes.bytes(BlobWord.sizeClass(word))) {
        return BlobLayout.bytes(length);
      }
    }
    throw new CorruptNodeException(
        BlobWord.address(word), "is not a blob: word=" + Long.toHexString(word));
  }

  /**
   * Loads some bytes of a value: {@link #bytes} has them at {@link #offset} until the next
   * operation. They need not be those of the value: the caller must check them.
   *
   * @param word that the entry has, or had a short while ago
   * @param from number of the value's first byte to load
   * @return {@code false} if a blob with this word cannot have these bytes in one place
   */
  public boolean loadPart(long word, int from, int length) {
    if (!hasInOnePlace(word, from, length)) {
      return false;
    }
    long address = BlobWord.address(word) + BlobLayout.VALUE + from;
    worker.read(address, buffer, length);
    setFound(memory, buffer, length);
    return true;
  }

  /** Returns whether a blob with this word has room for some bytes of a value in one place. */
  public boolean hasInOnePlace(long word, int from, int length) {
    return from >= 0 && length >= 0 && (long) from + length <= room(word);
  }

  /** Returns how long a value in the place of a word's blob may be, -1 if it has not one place. */
  public int room(long word) {
    boolean isInOnePlace = BlobWord.isBlob(word) && !BlobWord.hasParts(word) && space.holds(word);
    return isInOnePlace ? classes.bytes(BlobWord.sizeClass(word)) - BlobLayout.VALUE : -1;
  }

  /** Keeps a place to {@linkplain #storeInPlaceOf replace} a word's value, if there is room. */
  public void keepPlaceFor(long word) {
    if (room(word) >= 0) {
      space.keepPlace(worker, 0, BlobWord.sizeClass(word));
    }
  }

  private void setFound(MemorySegment segment, long at, int length) {
    found = segment;
    foundAt = at;
    foundLength = length;
  }

  /** Returns what holds the value that was loaded last. */
  public MemorySegment bytes() {
    return found;
  }

  /** Returns the offset of the value that was loaded last. */
  public long offset() {
    return foundAt;
  }

  /** Returns the length of the value that was loaded last. */
  public int length() {
    return foundLength;
  }

  /**
   * Loads several values, with as few round trips as their sizes allow.
   *
   * @param keys of the entries
   * @param words that the entries have, or had a short while ago
   */
  public void loadAll(long[] keys, long[] words, int count, Receiver receiver) {
    int next = 0;
    while (next < count) {
      next = loadSome(keys, words, next, count, receiver);
    }
  }

  /**
   * Loads the first of several values, those that one round trip brings.
   *
   * @param from number of the first word, below {@code count}
   * @return the number of the first word that is left, at least {@code from + 1}
   */
  public int loadSome(long[] keys, long[] words, int from, int count, Receiver receiver) {
    int end = readTogether(words, from, count);
    if (end == from) {
      boolean isThere = load(keys[from], words[from]);
      receiver.receive(from, found, foundAt, isThere ? foundLength : -1);
      return from + 1;
    }
    long at = buffer;
    for (int next = from; next < end; next++) {
      boolean isThere = check(keys[next], words[next], at);
      receiver.receive(next, memory, foundAt, isThere ? foundLength : -1);
      at += classes.bytes(BlobWord.sizeClass(words[next]));
    }
    return end;
  }

  /** READs blobs in a row as far as the buffer goes; returns the number of the first without. */
  private int readTogether(long[] words, int from, int count) {
    list.clear();
    long at = buffer;
    int number = from;
    for (; number < count && list.size() < TOGETHER; number++) {
      long word = words[number];
      if (!BlobWord.isBlob(word) || BlobWord.hasParts(word) || !space.holds(word)) {
        break;
      }
      int bytes = classes.bytes(BlobWord.sizeClass(word));
      if (at + bytes > bufferEnd) {
        break;
      }
      list.read(BlobWord.address(word), at, bytes);
      at += bytes;
    }
    if (number > from) {
      worker.scatter(list);
    }
    return number;
  }

  /**
   * Frees what a word stands for, which is in no entry any more. That takes effect before the next
   * value is stored, or at the end.
   *
   * @param key of the entry that had the word
   */
  public void free(long key, long word) {
    if (BlobWord.isBlob(word)) {
      addFreed(key, word, word == loadedWord ? loadedSum : 0);
      space.countWaiting(word, 1);
    }
  }

  private void addFreed(long key, long word, long sum) {
    if (freed == freedKeys.length) {
      freedKeys = Arrays.copyOf(freedKeys, 2 * freed);
      freedWords = Arrays.copyOf(freedWords, 2 * freed);
      freedSums = Arrays.copyOf(freedSums, 2 * freed);
    }
    freedKeys[freed] = key;
    freedSums[freed] = sum;
    freedWords[freed++] = word;
  }

  /**
   * Takes over what waits to be freed by another thread, which stores and frees nothing meanwhile.
   * What it has loaded stays loaded.
   */
  public void takeWaiting(Blobs from) {
    for (; from.freed > 0; from.freed--) {
      int last = from.freed - 1;
      addFreed(from.freedKeys[last], from.freedWords[last], from.freedSums[last]);
    }
  }

  /** Forgets the blob to free that was added last. */
  private void forgetFreed() {
    freed--;
    space.countWaiting(freedWords[freed], -1);
  }

  /**
   * Frees at once what waits for it.
   *
   * @throws PandoException if that fails; what is left waits still, or is lost
   */
  public void freeWaiting() {
    while (freed > 0) {
      long key = freedKeys[freed - 1];
      long word = freedWords[freed - 1];
      boolean isOurs = takeToFree(key, word, freedSums[freed - 1]);
      forgetFreed();
      if (isOurs) {
        freeWithParts(word);
      } else if (!space.isShared()) {
        throw new CorruptNodeException(
            BlobWord.address(word),
            "is not the blob to free: key=%s, word=%s".formatted(key, Long.toHexString(word)));
      }
    }
  }

  /**
   * Returns whether a blob is there, and this thread's to free; the buffer has it if it has parts.
   * Forgets it if that can never be found out.
   */
  private boolean takeToFree(long key, long word, long sum) {
    try {
      return space.isShared()
          ? space.holds(word) && mark(key, word, sum)
          : space.holds(word) && (!BlobWord.hasParts(word) || loadBlob(key, word));
    } catch (MemoryServerLostException e) {
      forgetFreed();
      throw e;
    } catch (UnknownOutcomeException _) {
      // The mark may come yet, so the place is lost; this says nothing about the next operation.
      return false;
    }
  }

  /** Marks a blob as freed; returns whether it was there, and not marked. */
  private boolean mark(long key, long word, long knownSum) {
    long sum = knownSum;
    if (sum == 0 || BlobWord.hasParts(word)) {
      if (!loadBlob(key, word)) {
        return false;
      }
      sum = loadedSum;
    }
    return worker.cas(BlobWord.address(word), sum, BlobLayout.FREED) == sum;
  }

  /** Frees the place of a blob, and those of the parts that the blob in the buffer lists. */
  private void freeWithParts(long word) {
    long[] parts = BlobWord.hasParts(word) ? partWords() : NO_PARTS;
    Failures failures = new Failures();
    for (long part : parts) {
      failures.collect(() -> freeBlob(part));
    }
    failures.collect(() -> freeBlob(word));
    failures.rethrow();
  }

  private void freeBlob(long word) {
    freePlace(BlobWord.sizeClass(word), BlobWord.address(word));
  }

  private void freePlace(int sizeClass, long address) {
    if (sizeClass == lentClass) {
      lentClass = NO_CLASS;
      space.repay(worker, 0, sizeClass, address);
    } else {
      space.free(worker, 0, sizeClass, address);
    }
  }

  /**
   * Stores a value in the place of another one, which is in no entry any more, so that no room is
   * needed; returns the new word, of the same place.
   *
   * @param key of the entry
   * @param word of the other value
   * @throws IllegalArgumentException if the place is too small
   */
  public long storeIn(long word, long key, MemorySegment bytes, long offset, int length) {
    if (!hasInOnePlace(word, 0, length)) {
      throw new IllegalArgumentException(
          "not the word of a longer blob: word=%s, length=%s"
              .formatted(Long.toHexString(word), length));
    }
    long address = BlobWord.address(word);
    return write(address, BlobWord.sizeClass(word), key, bytes, offset, length, false);
  }

  /** Returns the worker that issues the verbs. */
  public Worker worker() {
    return worker;
  }

  /** Returns whether a word stands for a blob, and not for a value that is in the word itself. */
  public static boolean isBlob(long word) {
    return BlobWord.isBlob(word);
  }

  /** Returns the address of the blob of a word, for messages. */
  public static long address(long word) {
    return BlobWord.address(word);
  }

  /** Returns the verbs issued here. */
  public VerbCounters verbs() {
    return worker.counters();
  }

  /**
   * Frees what waits for it, and ends this object. A second call does nothing.
   *
   * @throws PandoException if that fails; the object is closed nevertheless
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    Failures failures = new Failures();
    for (int before = freed + 1; freed < before && freed > 0; ) {
      before = freed;
      failures.collect(this::freeWaiting);
    }
    failures.collect(this::endReplacement);
    space.closed(this);
    failures.collect(worker::close);
    failures.collect(registered::close);
    failures.rethrow();
  }

  /**
   * Returns what to throw where an entry was changed, and its value before cannot be returned; an
   * {@link Error} is thrown as it is, with the exception suppressed.
   *
   * @param key of the entry, as text
   */
  public static UnknownOutcomeException unreturned(String key, Throwable failure) {
    return UnknownOutcomeException.of(
        "the entry was changed, and its value before cannot be returned: key=" + key, failure);
  }
}
