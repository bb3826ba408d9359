/**
 * The sets of keys that a benchmark can have, each computed from a record's number: an {@link
 * pando.bench.keys.Order} gives a record its place among all keys, a {@link pando.bench.keys.Shape}
 * turns places into keys that ascend with them.
 */
package pando.bench.keys;
