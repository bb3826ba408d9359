/**
 * A memory server: the chunks that its pool is made of, the processor threads that serve CALLs, and
 * the handlers that a user may add.
 */
package pando.fabric.server;
