/**
 * Values of any length in indexes whose entries have 8 bytes for a value: short ones in these 8
 * bytes, longer ones beside the index, in blobs.
 */
package pando.index.blob;
