/** The fabric that index code sees: verbs that wait in virtual time. */
package pando.sim.fabric;
