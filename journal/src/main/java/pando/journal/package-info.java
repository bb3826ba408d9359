/**
 * The log of a folder and its sorted files. {@link pando.journal.DataFolder} is where to begin;
 * {@link pando.journal.Log} has the story of a change, {@link pando.journal.Manifest} what counts
 * in a folder.
 */
package pando.journal;
