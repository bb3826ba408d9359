/**
 * What a node looks like in memory, in a frame as in the pool, and how it is searched and checked.
 */
package pando.index.node;
