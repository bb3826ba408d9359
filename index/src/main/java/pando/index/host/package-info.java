/**
 * The compute servers that a process hosts. An index over them makes, joins, loads and ends itself
 * under the lock of the pool, opens workers for sessions, and counts what they do, whatever its
 * nodes look like.
 *
 * <p>A system extends {@link pando.index.host.HostedIndex} and says how its parts are made: a
 * {@linkplain pando.index.host.HostedServer compute server}, a {@linkplain
 * pando.index.host.HostedWorker worker}, a session, a {@linkplain pando.index.load.Loader loader},
 * and the {@linkplain pando.index.host.Replaced index} that a bulk load replaces.
 */
package pando.index.host;
