/**
 * A run over several processes: memory servers, compute servers, and the parent that starts them,
 * sends them requests and adds up their measurements.
 */
package pando.bench.cluster;
