/**
 * The compute servers that a process hosts. An index over them is created, joined, loaded and
 * closed under the lock of the pool. It opens workers for sessions and sums their counters. None of
 * this depends on the layout of nodes.
 *
 * <p>A system extends {@link pando.index.host.HostedIndex} and implements how its parts are made: a
 * {@linkplain pando.index.host.HostedServer compute server}, a {@linkplain
 * pando.index.host.HostedWorker worker} with its {@linkplain pando.index.host.WorkerContext
 * context}, a {@linkplain pando.index.load.Loader loader}, and the {@linkplain
 * pando.index.host.Replaced empty index} that a bulk load replaces. What a compute server does in
 * the background is a {@linkplain pando.index.host.HostedTask task}.
 *
 * <p>Sessions enter a {@linkplain pando.index.session.Gate gate} with each operation: that of the
 * compute server, or one that all of a process share. {@code close} and {@code bulkLoad} shut the
 * gates: they wait for the operations under way, and later operations wait at the gate.
 */
package pando.index.host;
