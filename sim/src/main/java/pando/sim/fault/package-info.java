/** The faults that can strike in a cluster. */
package pando.sim.fault;
