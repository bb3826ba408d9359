/** The deltas of ORCA: changes of leaves that wait in local memory until the leaf is merged. */
package pando.index.orca.delta;
