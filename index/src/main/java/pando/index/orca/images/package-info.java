/**
 * The cache of images of ORCA: pairs of segments of leaves, by which scans do without READs. {@code
 * ImageCache} draws a set, and says why no image stays old.
 */
package pando.index.orca.images;
