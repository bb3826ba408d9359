/**
 * DEFT (EuroSys 2025): a B+-tree whose operations READ only the parts of nodes that they need.
 * Inner nodes are READ by segments, leaves by pairs of lines. Writers change one leaf concurrently
 * under a shared lock; readers take no lock.
 *
 * <p>The code relies only on what the fabric promises: aligned parts of {@code atomicityBytes} land
 * as one, verbs of one worker to one memory server take effect in posting order, and there are
 * masked atomics. How a reader detects a torn node is a {@linkplain
 * pando.baselines.deft.DeftValidation setting}. {@code DeftLeafLayout} and {@code InnerLayout} draw
 * the nodes, {@code SxWord} the word of a lock.
 */
package pando.baselines.deft;
