/**
 * The compute side of two-stage allocation: memory servers hand out chunks, compute servers carve
 * nodes from them.
 */
package pando.fabric.pool;
