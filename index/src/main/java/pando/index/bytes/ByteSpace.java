package pando.index.bytes;

import pando.index.PoolSpace;
import pando.index.blob.BlobCount;
import pando.index.blob.Blobs;

/** Counts all blocks of an index that rests, and the values beside them. */
final class ByteSpace {
  private final ByteIndex index;
  private final Blobs blobs;
  private final BlobCount blocks;
  private final BlobCount values;
  private final BlobCount spare;

  ByteSpace(ByteIndex index, Blobs blobs) {
    this.index = index;
    this.blobs = blobs;
    this.blocks = new BlobCount(index.space, blobs, "blocks");
    this.values = new BlobCount(index.space, blobs, "values");
    this.spare = new BlobCount(index.space, blobs, "a spare block");
  }

  /**
   * Returns where every byte of the pool is.
   *
   * @param space where those of the index of labels are
   */
  PoolSpace count(PoolSpace space) {
    for (BlockEntry entry : index.directory.all()) {
      BlockState state = entry.state();
      if (!state.isGone()) {
        blocks.add(BlockSession.BLOCKS, state.word());
        countValues(entry, state);
      }
    }
    spare.add(BlockSession.BLOCKS, index.spare.word());
    return space
        .withUsed(spare.parts())
        .withUsed(blocks.parts())
        .withUsed(values.parts())
        .withUnused(index.space.kept());
  }

  private void countValues(BlockEntry entry, BlockState state) {
    Block copy = entry.copy(state);
    Block block = copy == null ? Blocks.load(blobs, state.word()) : copy;
    for (int i = 0; i < block.count(); i++) {
      if (block.hasBlob(i)) {
        values.add(ByteKeyHash.of(block.key(i)), block.word(i));
      }
    }
  }
}
