/**
 * DEFT (EuroSys 2025): a B+-tree of which an operation reads what it needs and no more. Inner nodes
 * are read by segments, leaves by pairs of buckets; writers of one leaf work side by side under a
 * shared lock, and readers take none.
 *
 * <p>Relies on no more than the fabric promises: that aligned parts of {@code atomicityBytes} land
 * as one, that verbs of one worker to one memory server take effect in posting order, and masked
 * atomics. How a reader tells a torn node is a {@linkplain pando.index.deft.Validation choice}.
 * {@code LeafLayout} and {@code InnerLayout} draw the nodes, {@code SxWord} the word of a lock.
 */
package pando.index.deft;
