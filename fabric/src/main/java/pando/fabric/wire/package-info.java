/**
 * The protocol between compute servers and memory servers: what is on the wire, its limits, and the
 * checks of what comes from it.
 */
package pando.fabric.wire;
