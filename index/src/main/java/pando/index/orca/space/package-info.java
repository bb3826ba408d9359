/**
 * The pool's space for leaves and directory pages of ORCA, which have many sizes: extents of units
 * of 128 bytes, in regions that are allocated as nodes are.
 */
package pando.index.orca.space;
