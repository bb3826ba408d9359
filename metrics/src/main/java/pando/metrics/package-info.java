/**
 * Meters over the counters that an index has anyway, and a small HTTP server that shows them:
 * Prometheus text, health, and a page that moves each second.
 */
package pando.metrics;
