/** Virtual time: the queue of events, and clients that wait in it. */
package pando.sim.time;
