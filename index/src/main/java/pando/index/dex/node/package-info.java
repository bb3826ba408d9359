/** The layout of a DEX node, in a frame and in the pool, and how a node is searched and checked. */
package pando.index.dex.node;
