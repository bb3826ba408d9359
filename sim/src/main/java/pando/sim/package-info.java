/** A cluster in virtual time: its model, its clients, and the fabric between them. */
package pando.sim;
