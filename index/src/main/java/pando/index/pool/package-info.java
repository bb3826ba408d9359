/** What every index keeps in the pool besides its nodes, and the addresses that nodes can have. */
package pando.index.pool;
