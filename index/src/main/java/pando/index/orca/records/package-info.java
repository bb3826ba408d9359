/** The record cache of ORCA: single records in buckets of 128 bytes, read optimistically. */
package pando.index.orca.records;
