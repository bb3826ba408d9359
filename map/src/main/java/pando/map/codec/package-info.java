/**
 * Keys and values as bytes. A {@link pando.map.codec.KeyCodec} keeps the order of keys, a {@link
 * pando.map.codec.ValueCodec} keeps values alone.
 */
package pando.map.codec;
