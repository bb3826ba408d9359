/**
 * The record cache of ORCA: single records in buckets of 128 bytes, read optimistically. {@code
 * RecordCache} draws a bucket, and says how readers and the holder of its lock see each other.
 */
package pando.index.orca.records;
