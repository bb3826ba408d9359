/**
 * A run over several processes of this machine: memory servers and compute servers that share
 * memory, and the parent that starts them, sends them requests and adds up their measurements.
 */
package pando.bench.cluster;
