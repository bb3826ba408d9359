package pando.cli;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import pando.cli.text.ByteText;
import pando.client.ClientBatch;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.index.bytes.BatchFailure;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;

/** The entries of compute servers as text: words or byte strings, whichever they serve. */
abstract sealed class ClientEntries implements AutoCloseable {
  /** Opens a session for the entries that the compute servers serve. */
  static ClientEntries of(PandoClient client) {
    return client.servesByteStrings() ? new Strings(client.byteStrings()) : new Words(client);
  }

  /**
   * Returns the value of a key, {@code null} if it is not there.
   *
   * @throws IllegalArgumentException if the text is no key
   */
  abstract @Nullable String get(String key);

  /**
   * Stores a value; returns the one that it replaces, {@code null} if there was none.
   *
   * @throws IllegalArgumentException if a text is no key or value
   */
  abstract @Nullable String put(String key, String value);

  /**
   * Stores entries, many of them at a time.
   *
   * @param entries a key and a value each
   * @throws IllegalArgumentException if a text is no key or value
   */
  abstract void storeAll(List<String[]> entries);

  /**
   * Visits entries in the order of their keys.
   *
   * @param from first key, {@code null} for the end of all keys that the order begins with
   * @param to last key, {@code null} for the other end
   * @throws IllegalArgumentException if a text is no key, or the range is reversed
   */
  abstract void scan(
      @Nullable String from,
      @Nullable String to,
      boolean down,
      long limit,
      BiConsumer<String, String> visitor);

  @Override
  public abstract void close();

  private static final class Words extends ClientEntries {
    private final PandoClient client;
    private final ClientSession session;

    Words(PandoClient client) {
      this.client = client;
      this.session = client.session();
    }

    private static long word(String text) {
      try {
        return Long.parseLong(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("no whole number of 64 bits: value=" + text, e);
      }
    }

    @Override
    @Nullable String get(String key) {
      return session.get(word(key)) ? Long.toString(session.value()) : null;
    }

    @Override
    @Nullable String put(String key, String value) {
      return session.put(word(key), word(value)) ? Long.toString(session.value()) : null;
    }

    @Override
    void storeAll(List<String[]> entries) {
      ClientBatch batch = client.batch();
      entries.forEach(entry -> batch.store(word(entry[0]), word(entry[1])));
      batch.runAndClear();
    }

    @Override
    void scan(
        @Nullable String from,
        @Nullable String to,
        boolean down,
        long limit,
        BiConsumer<String, String> visitor) {
      long first = from != null ? word(from) : down ? Long.MAX_VALUE : Long.MIN_VALUE;
      long last = to != null ? word(to) : down ? Long.MIN_VALUE : Long.MAX_VALUE;
      if (down) {
        session.scanDown(first, last, limit, (key, value) -> visit(visitor, key, value));
      } else {
        session.scan(first, last, limit, (key, value) -> visit(visitor, key, value));
      }
    }

    private static boolean visit(BiConsumer<String, String> visitor, long key, long value) {
      visitor.accept(Long.toString(key), Long.toString(value));
      return true;
    }

    @Override
    public void close() {
      session.close();
    }
  }

  private static final class Strings extends ClientEntries {
    private static final MemorySegment LEAST = MemorySegment.ofArray(new byte[0]);

    private final ByteStrings strings;
    private final ByteSession session;

    Strings(ByteStrings strings) {
      this.strings = strings;
      this.session = strings.session();
    }

    @Override
    @Nullable String get(String key) {
      return session.get(ByteText.bytes(key)) ? ByteText.shown(session.value()) : null;
    }

    @Override
    @Nullable String put(String key, String value) {
      return session.put(ByteText.bytes(key), ByteText.bytes(value))
          ? ByteText.shown(session.value())
          : null;
    }

    @Override
    void storeAll(List<String[]> entries) {
      BatchFailure failure = new BatchFailure();
      session.storeAll(
          entries.stream().map(entry -> ByteText.bytes(entry[0])).toList(),
          entries.stream().map(entry -> ByteText.bytes(entry[1])).toList(),
          (_, _, why) -> failure.add(why));
      failure.check();
    }

    @Override
    void scan(
        @Nullable String from,
        @Nullable String to,
        boolean down,
        long limit,
        BiConsumer<String, String> visitor) {
      MemorySegment least = least(down ? to : from);
      MemorySegment behind = behind(down ? from : to);
      if (down) {
        session.scanDown(behind, least, limit, (key, value) -> visit(visitor, key, value));
      } else {
        session.scan(least, behind, limit, (key, value) -> visit(visitor, key, value));
      }
    }

    private static MemorySegment least(@Nullable String key) {
      return key == null ? LEAST : ByteText.bytes(key);
    }

    /** Returns the first key behind one, {@code null} if there is none. */
    private @Nullable MemorySegment behind(@Nullable String key) {
      return key == null ? null : KeyBounds.above(ByteText.bytes(key), strings.keyBytesMax());
    }

    private static boolean visit(
        BiConsumer<String, String> visitor, MemorySegment key, MemorySegment value) {
      visitor.accept(ByteText.shown(key), ByteText.shown(value));
      return true;
    }

    @Override
    public void close() {
      session.close();
      strings.close();
    }
  }
}
