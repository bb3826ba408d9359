/**
 * What an index sees of disaggregated memory: a {@link pando.fabric.Fabric} joins workers to memory
 * servers, a {@link pando.fabric.Worker} issues verbs, a {@link pando.fabric.GlobalAddress} names a
 * byte of the pool.
 */
package pando.fabric;
