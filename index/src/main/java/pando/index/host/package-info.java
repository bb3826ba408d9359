/**
 * The compute servers that a process hosts. An index over them makes, joins, loads and ends itself
 * under the lock of the pool, opens workers for sessions, and counts what they do, whatever its
 * nodes look like.
 *
 * <p>A system extends {@link pando.index.host.HostedIndex} and says how its parts are made: a
 * {@linkplain pando.index.host.HostedServer compute server}, a {@linkplain
 * pando.index.host.HostedWorker worker} with its {@linkplain pando.index.host.WorkerContext
 * context}, a {@linkplain pando.index.load.Loader loader}, and the {@linkplain
 * pando.index.host.Replaced index} that a bulk load replaces.
 *
 * <p>Sessions enter the {@linkplain pando.index.session.Gate gate} of the index with each
 * operation. {@code close} and {@code bulkLoad} shut it: they wait for the operations that have
 * begun, and later ones wait for them.
 */
package pando.index.host;
