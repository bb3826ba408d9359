/**
 * What takes time in a cluster: network cards, their atomics, and processors; and the faults there.
 */
package pando.sim.network;
