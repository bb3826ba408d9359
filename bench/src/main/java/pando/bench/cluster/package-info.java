/**
 * A run over several processes of this machine: memory servers and compute servers that share
 * memory, and the parent that starts them, tells them what to do and adds up what they measured.
 */
package pando.bench.cluster;
