/** EMT-D: a tree in each memory server, which the server's processor reads and changes by CALL. */
@NullMarked
package pando.baselines.emt;

import org.jspecify.annotations.NullMarked;
