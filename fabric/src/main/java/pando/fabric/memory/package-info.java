/**
 * Memory outside the Java heap: zeroed memory of this process, sealed memory shared with others,
 * and atomic access to its words. The only package that calls native code, so it also has the few
 * other services of the operating system that sharing needs.
 */
package pando.fabric.memory;
