/**
 * What indexes over B-link trees share: every node knows its right sibling, compute servers keep
 * copies of inner nodes and none of leaves, and nothing waits in them to be written back.
 *
 * <p>A system extends {@link pando.index.blink.BLinkIndex} and says how its parts are made: a
 * {@linkplain pando.index.blink.BLinkServer compute server}, a {@linkplain
 * pando.index.blink.BLinkWorker worker}, a session, a builder, and the {@linkplain
 * pando.index.blink.EmptyTree tree} that a bulk load replaces.
 */
package pando.index.blink;
