/**
 * Runs workloads: client threads draw operations in batches, time them and check every answer; a
 * testbed holds what they run against, in this process or in several.
 */
package pando.bench.run;
