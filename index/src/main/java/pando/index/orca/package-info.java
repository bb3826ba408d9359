/**
 * ORCA: an ordered index whose keys have one compute server each. That server has all inner levels
 * in its memory, caches single records, and READs 128 bytes of a leaf where it misses. Values are
 * written in place, 8 bytes each; inserts and removals wait in the delta of their leaf until a
 * merge writes new leaves, which one word makes part of the tree.
 *
 * <p>{@code OrcaWorker} says what the cache, a delta and a leaf know of a key, and in which order
 * locks are taken. {@code OrcaMerges}, {@code DirectoryChange}, {@code Cleaner} and {@code
 * LeafRange} say how leaves are merged and published, how values are written back, and why a scan
 * is right.
 *
 * <p>The code relies on what the fabric promises: aligned words land as one, and the verbs of one
 * worker to one memory server take effect in posting order. Only the owner of a range reads and
 * writes its leaves and pages.
 */
package pando.index.orca;
