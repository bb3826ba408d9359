/**
 * The directory of ORCA: pages in the pool that name the leaves of a range, and the tree of them in
 * the memory of its owner. {@code DirectoryPage} and {@code LeafPointer} draw what is in the pool,
 * {@code LeafEntries} what the owner knows of each leaf, and which rules protect it.
 */
package pando.index.orca.directory;
