/**
 * The common parts of indexes over B-link trees. Every node has the address of its right sibling.
 * Compute servers cache copies of inner nodes, never of leaves. All changes are written through,
 * none is written back later.
 *
 * <p>The {@linkplain pando.baselines.blink.BLinkDescent descent}, {@linkplain
 * pando.baselines.blink.BLinkSplits splits}, {@linkplain pando.baselines.blink.BLinkMerges merges}
 * and the {@linkplain pando.baselines.blink.BLinkWalk walk} are common to all systems. A system
 * implements its {@linkplain pando.baselines.blink.BLinkNodes nodes}: their bytes, how a reader
 * detects a torn one, and in which order a change of several nodes is written. Its {@linkplain
 * pando.baselines.blink.BLinkServer compute servers} and the {@linkplain
 * pando.baselines.blink.EmptyTree empty tree} that a bulk load replaces extend those of {@link
 * pando.index.host}.
 */
package pando.baselines.blink;
