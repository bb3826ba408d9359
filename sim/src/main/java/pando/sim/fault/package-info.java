/** What can go wrong in a cluster, each by name and each counted. */
package pando.sim.fault;
