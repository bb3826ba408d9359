/** What clients and compute servers say to each other: the protocol PANDO-C1. */
package pando.client.wire;
