/**
 * A memory server: the chunks that its pool is made of, the processor threads that serve CALLs, and
 * what a user may add to them.
 */
package pando.fabric.server;
