/** ZooKeeper as the coordinator of a cluster. */
@NullMarked
package pando.cluster.zookeeper;

import org.jspecify.annotations.NullMarked;
