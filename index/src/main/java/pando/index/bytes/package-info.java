/**
 * An ordered map from byte strings to byte strings in a memory pool: blocks of sorted records, in
 * blobs that never change, and an index of ORCA that says which blocks there are.
 */
package pando.index.bytes;
