/** Output on a terminal: numbers, tables and progress bars. */
package pando.cli.text;
