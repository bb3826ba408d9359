/**
 * What takes time in a cluster: network cards, their atomics, and processors; and what goes wrong
 * there.
 */
package pando.sim.network;
