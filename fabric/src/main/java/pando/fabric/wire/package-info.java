/**
 * What is on the wire between compute servers and memory servers, its limits, and the checks of
 * what comes from it; and how connections begin, also those of clients to compute servers.
 */
package pando.fabric.wire;
