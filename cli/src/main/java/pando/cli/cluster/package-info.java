/** A cluster on this machine as {@code pando up} keeps it, and any cluster as it is watched. */
package pando.cli.cluster;
