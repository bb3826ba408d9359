/** What every index keeps in the pool beside its nodes, and where nodes can be. */
package pando.index.pool;
