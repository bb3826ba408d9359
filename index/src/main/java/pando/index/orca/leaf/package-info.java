/**
 * The leaves of ORCA in the pool: sorted arrays that are cut into segments of 128 bytes, so that a
 * lookup READs one segment. {@code LeafLayout} draws a leaf, {@code Heads} finds the segment of a
 * key, {@code Segment} checks and searches one, {@code LeafPacker} writes a leaf and {@code
 * LeafReader} reads a whole one.
 */
package pando.index.orca.leaf;
