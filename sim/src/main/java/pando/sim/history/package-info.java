/** Histories of operations, and the checks of what they promise. */
package pando.sim.history;
