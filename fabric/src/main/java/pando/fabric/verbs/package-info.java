/** Verbs of network cards: RDMA, through the library {@code libibverbs}. */
package pando.fabric.verbs;
