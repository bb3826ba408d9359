/**
 * The deltas of ORCA: changes of leaves that wait in local memory until the leaf is merged. {@code
 * DeltaBlock} draws a block, {@code Slabs} gives blocks out.
 */
package pando.index.orca.delta;
