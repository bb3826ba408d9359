/**
 * What indexes over B-link trees share: every node knows its right sibling, compute servers keep
 * copies of inner nodes and none of leaves, and nothing waits in them to be written back.
 *
 * <p>The {@linkplain pando.index.blink.BLinkDescent way down}, {@linkplain
 * pando.index.blink.BLinkSplits splits}, {@linkplain pando.index.blink.BLinkMerges merges} and the
 * {@linkplain pando.index.blink.BLinkWalk walk} are written once. A system gives its {@linkplain
 * pando.index.blink.BLinkNodes nodes}: their bytes, how a reader proves one whole, and in which
 * order a change of several is written. Its {@linkplain pando.index.blink.BLinkServer compute
 * servers} and the {@linkplain pando.index.blink.EmptyTree tree} that a bulk load replaces are
 * parts of an {@linkplain pando.index.host.HostedIndex index} as any other.
 */
package pando.index.blink;
