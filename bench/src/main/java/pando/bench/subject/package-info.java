/** The subjects of workloads: an index on a fabric, or a peer that it is compared with. */
package pando.bench.subject;
