/** JMH benchmarks of the kernels: verbs, and lookups that hit or miss the cache. */
package pando.bench.jmh;
