/**
 * Maps over an index: {@link pando.map.Pando} opens a pool, {@link pando.map.PandoMap} is a {@link
 * java.util.concurrent.ConcurrentNavigableMap} of its entries.
 */
package pando.map;
