/** Bugs that tests plant, so that it shows whether they are found. */
package pando.index.bugs;
