/**
 * The API to disaggregated memory: a {@link pando.fabric.Fabric} connects workers to memory
 * servers, a {@link pando.fabric.Worker} issues verbs, a {@link pando.fabric.GlobalAddress} names a
 * byte of the pool.
 */
package pando.fabric;
