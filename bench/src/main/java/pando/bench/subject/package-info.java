/** What workloads run against: an index on a fabric, or a peer that it is compared with. */
package pando.bench.subject;
