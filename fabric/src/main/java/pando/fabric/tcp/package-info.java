/**
 * Memory servers that are reached by TCP. Without {@link pando.fabric.tcp.Authentication} on the
 * loopback interface alone, where any user of the machine can read and change the pool.
 */
package pando.fabric.tcp;
