/** Offsets in a memory server's memory and in its messages, and nothing else. */
package pando.fabric.layout;
