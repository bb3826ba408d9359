/**
 * DEX (VLDB 2024): a B+-tree whose key space is partitioned over compute servers, cached along its
 * paths, and whose operations may be finished by a memory server's processor.
 */
package pando.index.dex;
