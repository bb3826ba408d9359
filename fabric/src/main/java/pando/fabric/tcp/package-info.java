/**
 * Memory servers that are reached by TCP. On the loopback interface alone, as there is no
 * authentication yet: any user of the machine who reaches the port can change all of the pool.
 */
package pando.fabric.tcp;
