/**
 * The log of a cluster: each compute server logs what changes its keys, and memory servers hold it.
 * {@link pando.durable.holder.HeldLog} has the compute server's side and the story, {@link
 * pando.durable.holder.LogService} that of a memory server, {@link pando.durable.holder.Holders}
 * what is done with the log of a compute server that is lost.
 */
package pando.durable.holder;
