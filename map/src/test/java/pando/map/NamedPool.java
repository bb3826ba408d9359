package pando.map;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.client.StringTrio;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** A pool for named maps, whose byte strings are of a kind. */
final class NamedPool implements AutoCloseable {
  private static final ByteOptions BYTES =
      ByteOptions.defaults()
          .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
          .withCacheBytes(1 << 20);

  /** The kinds of byte strings. */
  enum Kind {
    /** In this process, with small blocks. */
    EMBEDDED,
    /** Of three compute servers, whose boundaries move, by a client. */
    CLIENT;

    /** Over a client, each operation takes longer. */
    int count(int operations) {
      return this == CLIENT ? operations / 10 : operations;
    }
  }

  private final Kind kind;
  private final Fabric fabric = OpenMap.pool();

  /** What an owner of the pool has opened, in the order of closing. */
  private final List<Runnable> opened = new ArrayList<>();

  private String addresses = "";
  private ByteStrings strings;

  NamedPool(Kind kind) {
    this.kind = kind;
    this.strings = opened(ByteIndex.create(fabric, BYTES));
    serve();
  }

  private ByteStrings opened(ByteStrings index) {
    opened.add(index::close);
    return index;
  }

  private void serve() {
    if (kind == Kind.CLIENT) {
      StringTrio trio = new StringTrio((ByteIndex) strings);
      MovingBoundary moving = MovingBoundary.start(trio::move);
      addresses = trio.addresses();
      opened.addFirst(trio::close);
      opened.addFirst(moving::close);
    }
  }

  /** Returns one more way to the maps. */
  Pando pando() {
    return kind == Kind.CLIENT
        ? Pando.open("client:" + addresses, OpenMap.PATIENT)
        : Pando.of(strings);
  }

  /** Closes the index and opens it again; no way to the maps is open. */
  void reopen() {
    Closing.all(opened);
    opened.clear();
    strings = opened(ByteIndex.open(fabric, BYTES));
    serve();
  }

  /** Returns how many entries there are of all maps, and of what belongs to none. */
  long entries() {
    try (ByteSession session = strings.session()) {
      MemorySegment least = MemorySegment.ofArray(new byte[0]);
      return session.scan(least, null, Long.MAX_VALUE, (key, value) -> true);
    }
  }

  ByteStrings strings() {
    return strings;
  }

  @Override
  public void close() {
    opened.add(fabric::close);
    Closing.all(opened);
  }
}
