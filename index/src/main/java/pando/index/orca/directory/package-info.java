/**
 * The directory of ORCA: pages in the pool that name the leaves of a partition, and the tree of
 * them in the memory of its owner.
 */
package pando.index.orca.directory;
