/**
 * The common parts of indexes over B-link trees. Every node has the address of its right sibling.
 * Compute servers cache copies of inner nodes, never of leaves. All changes are written through,
 * none is written back later.
 *
 * <p>The {@linkplain pando.index.blink.BLinkDescent descent}, {@linkplain
 * pando.index.blink.BLinkSplits splits}, {@linkplain pando.index.blink.BLinkMerges merges} and the
 * {@linkplain pando.index.blink.BLinkWalk walk} are common to all systems. A system implements its
 * {@linkplain pando.index.blink.BLinkNodes nodes}: their bytes, how a reader detects a torn one,
 * and in which order a change of several nodes is written. Its {@linkplain
 * pando.index.blink.BLinkServer compute servers} and the {@linkplain pando.index.blink.EmptyTree
 * empty tree} that a bulk load replaces extend those of {@link pando.index.host}.
 */
package pando.index.blink;
