/** The options that several commands share, and the values that they take. */
package pando.cli.option;
