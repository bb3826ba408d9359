/** Servers that find each other, and ranges that go from one to another. */
package pando.cluster;
