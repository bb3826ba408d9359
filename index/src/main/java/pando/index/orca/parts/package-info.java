/** The memory of a compute server's caches, in parts that go from one cache to another. */
@NullMarked
package pando.index.orca.parts;

import org.jspecify.annotations.NullMarked;
