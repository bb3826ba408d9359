/**
 * What indexes over B-link trees share: every node knows its right sibling, compute servers keep
 * copies of inner nodes and none of leaves, and nothing waits in them to be written back.
 *
 * <p>Their {@linkplain pando.index.blink.BLinkServer compute servers} and the {@linkplain
 * pando.index.blink.EmptyTree tree} that a bulk load replaces are parts of an {@linkplain
 * pando.index.host.HostedIndex index} as any other.
 */
package pando.index.blink;
