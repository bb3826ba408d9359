/**
 * What users of an index see: a {@link pando.index.RangeIndex} hands each thread a {@link
 * pando.index.Session}, and sessions get, put, remove and scan.
 */
package pando.index;
