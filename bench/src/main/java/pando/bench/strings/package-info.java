/** Byte strings as keys, beside a map of strings of the JDK. */
package pando.bench.strings;
