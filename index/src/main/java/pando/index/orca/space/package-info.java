/** The pool's space for leaves and directory pages of ORCA, which have many sizes. */
package pando.index.orca.space;
