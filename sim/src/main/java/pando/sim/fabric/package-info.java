/** The simulated fabric: verbs that wait in virtual time. */
package pando.sim.fabric;
