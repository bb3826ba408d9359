/** JMH benchmarks of the kernels: verbs, lookups that hit or miss the cache, and the map. */
package pando.bench.jmh;
