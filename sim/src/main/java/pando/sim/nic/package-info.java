/** What takes time in a cluster: network cards, their atomics, and processors. */
package pando.sim.nic;
