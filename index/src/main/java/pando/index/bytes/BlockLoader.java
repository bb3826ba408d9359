package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.session.Failures;

/**
 * Loads entries in the order of their keys into an empty index, which no operation uses meanwhile.
 * All blocks but the first are stored under new labels, where they do not count, as the empty block
 * has all keys. Then the first one takes the place of that.
 */
final class BlockLoader {
  /** A block ends where its separator is shortest, in this last part of its records. */
  private static final int CHOICE_PART = 12;

  /** What the header, the slack and the end of a segment take of it. */
  private static final double SEGMENT_OVERHEAD = 1.06;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final ByteIndex index;
  private final Session labels;
  private final Blobs blobs;
  private final long blockBytes;
  private final MemorySegment wordBytes = MemorySegment.ofArray(new byte[Long.BYTES]);
  private final List<BlockEntry> loaded = new ArrayList<>();
  private byte[] lastKey = new byte[0];

  /** What is packed next: its range begins with {@link #low}, and has no end yet. */
  private BlockWriter writer;

  private MemorySegment low = NOTHING;

  /** The first key behind {@link #low}, as far as all keys begin with it. */
  private @Nullable MemorySegment first;

  private long keyAndValueBytes;
  private int count;

  /**
   * Prepares a load.
   *
   * @param fill share of a block's greatest size that is filled
   */
  BlockLoader(ByteIndex index, Session labels, Blobs blobs, double fill) {
    this.index = index;
    this.labels = labels;
    this.blobs = blobs;
    this.blockBytes = (long) (index.options.blockBytes() * fill);
    this.writer = writer(low);
  }

  private BlockWriter writer(MemorySegment from) {
    return new BlockWriter(from, null, 2 * blockBytes);
  }

  /** Loads all entries; returns their number. */
  long load(ByteSource source) {
    if (!index.directory.served().isAll()) {
      throw new IllegalStateException("an index that others serve, too, cannot be loaded");
    }
    BlockEntry empty = index.directory.last();
    if (index.directory.size() != 1 || Blocks.load(blobs, empty.state().word()).count() > 0) {
      throw new IllegalStateException("only an empty index can be loaded");
    }
    try {
      long entries = 0;
      for (; source.next(); entries++) {
        add(source.key(), source.value(), entries > 0);
      }
      Block last = writer.finish();
      writer = writer(low);
      store(last);
      make(empty);
      return entries;
    } catch (Throwable e) {
      Failures failures = new Failures();
      undo(failures);
      failures.join(e);
      throw e;
    }
  }

  private void add(MemorySegment key, MemorySegment value, boolean hasLast) {
    BlockSession.checkEntry(index, key, value);
    if (hasLast && KeyOrder.compare(MemorySegment.ofArray(lastKey), key) >= 0) {
      throw new IllegalArgumentException(
          "keys do not ascend: key=%s, before=%s"
              .formatted(
                  HexFormat.of().formatHex(key.toArray(JAVA_BYTE)),
                  HexFormat.of().formatHex(lastKey)));
    }
    lastKey = key.toArray(JAVA_BYTE);
    boolean blob = value.byteSize() > index.options.inlineMax();
    if (blob) {
      long word = blobs.store(ByteKeyHash.of(key), value, 0, (int) value.byteSize());
      wordBytes.set(Block.LONG, 0, word);
    }
    MemorySegment stored = blob ? wordBytes : value;
    writer.add(key, stored, blob);
    keyAndValueBytes += key.byteSize() + stored.byteSize();
    count++;
    if (first == null) {
      first = MemorySegment.ofArray(lastKey);
    }
    if (packedBytes() > blockBytes && count > 1) {
      pack();
    }
  }

  /** Returns about how many bytes the records so far take as a block. */
  private long packedBytes() {
    long prefixBytes =
        first == null ? 0 : KeyOrder.commonPrefix(first, MemorySegment.ofArray(lastKey));
    long records = keyAndValueBytes + count * (BlockSegment.LENGTHS_BYTES - prefixBytes);
    return (long) (records * SEGMENT_OVERHEAD) + Block.TRAILER_BYTES;
  }

  /** Stores a block of most of the records; the others begin the next one. */
  private void pack() {
    Block whole = writer.finish();
    int cut = Blocks.cutBehind(whole, whole.count() - 1 - whole.count() / CHOICE_PART);
    MemorySegment separator = Blocks.separator(whole, cut);
    low = separator;
    first = whole.key(cut);
    count = whole.count() - cut;
    keyAndValueBytes = 0;
    for (int i = cut; i < whole.count(); i++) {
      keyAndValueBytes += whole.keyBytes(i) + whole.stored(i).byteSize();
    }
    writer = writer(low);
    writer.addAll(whole, cut, whole.count());
    store(Blocks.left(whole, cut, separator, index.options.blockBytes()));
  }

  private void store(Block block) {
    block.withVersion(index.versions.next());
    int length = (int) block.bytes().byteSize();
    byte[] outline = Outline.of(block);
    long label = loaded.isEmpty() ? index.directory.last().label() : index.freshLabels.take();
    long word = 0;
    try {
      word = blobs.store(BlockSession.BLOCKS, block.bytes(), 0, length);
    } finally {
      if (word == 0) {
        freeValues(block);
      }
    }
    loaded.add(new BlockEntry(label, BlockState.of(word, block, outline)));
    if (loaded.size() > 1) {
      labels.store(label, word);
    }
  }

  private void make(BlockEntry empty) {
    // The pool has the labels of the others before: they begin where the first one ends.
    index.labels.writeBack();
    labels.store(empty.label(), loaded.getFirst().state().word());
    index.cache.set(empty, null);
    index.directory.replaceAll(loaded);
    index.superseded.free(empty, BlockSession.BLOCKS, empty.state().word());
  }

  /** Frees all that was stored. The label of the empty block may have the word of the first one. */
  private void undo(Failures failures) {
    failures.collect(() -> freeValues(writer.finish()));
    for (BlockEntry entry : loaded) {
      long word = entry.state().word();
      failures.collect(() -> freeValues(Blocks.load(blobs, word)));
      BlockEntry empty = index.directory.last();
      if (entry.label() == empty.label()) {
        index.unsettled.add(empty, word);
      } else {
        index.unsettled.addStray(entry.label(), word);
      }
    }
    failures.collect(blobs::freeWaiting);
  }

  private void freeValues(Block block) {
    for (int i = 0; i < block.count(); i++) {
      if (block.hasBlob(i)) {
        blobs.free(ByteKeyHash.of(block.key(i)), block.word(i));
      }
    }
  }
}
