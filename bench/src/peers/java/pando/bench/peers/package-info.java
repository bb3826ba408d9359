/** Data folders beside other stores that keep what they acknowledge, for the profile "peers". */
@NullMarked
package pando.bench.peers;

import org.jspecify.annotations.NullMarked;
