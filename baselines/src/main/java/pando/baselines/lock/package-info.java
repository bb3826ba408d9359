/**
 * Hierarchical locks on nodes (Sherman section 4.3): a queue at the compute server in front of a
 * global lock, which is in a memory server's card or in the node. {@linkplain
 * pando.baselines.lock.LockOptions Either part} can be left out.
 */
package pando.baselines.lock;
