package pando.fabric.verbs;

/**
 * Where a queue pair is, for the other side.
 *
 * @param queuePair its number
 * @param packet number of the first packet that it sends, 24 bits
 * @param mtu code of the largest packet of its port: 1 for 256 bytes, 5 for 4,096
 * @param readsMax READs and atomics that it serves at a time
 * @param lid address of its port on InfiniBand, else 0
 * @param gid address of its port on Ethernet, zeros else
 */
record Endpoint(int queuePair, int packet, int mtu, int readsMax, int lid, Gid gid) {}
