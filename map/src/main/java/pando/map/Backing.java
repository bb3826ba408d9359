package pando.map;

import pando.index.RangeIndex;
import pando.map.codec.KeyCodec;

/**
 * What all views of a map share.
 *
 * @param index that has the entries
 * @param codec of the keys
 * @param keys their words
 * @param sessions of all threads
 */
record Backing<K, V>(
    RangeIndex index, KeyCodec<K> codec, Words<K> keys, SessionPool<K, V> sessions) {}
