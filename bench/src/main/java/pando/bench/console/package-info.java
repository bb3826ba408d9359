/** What stands on a terminal: numbers, tables, and progress while something lasts. */
package pando.bench.console;
