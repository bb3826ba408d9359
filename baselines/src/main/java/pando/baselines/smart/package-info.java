/**
 * SMART (OSDI 2023): an adaptive radix tree, whose leaves are single records. Start at {@link
 * pando.baselines.smart.SmartOptions}; then {@code LeafLayout} and {@code NodeLayout}, the bytes;
 * then {@code Descent}.
 */
package pando.baselines.smart;
