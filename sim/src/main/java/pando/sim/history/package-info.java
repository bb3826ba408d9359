/** Histories of operations, and the checks that they keep the contract of a map. */
package pando.sim.history;
