/**
 * ROLEX (FAST 2023): a learned index whose models are retrained beside the sessions. Lines that are
 * trained on the keys tell where a key's leaf is; the leaves are fetched by one-sided verbs.
 */
package pando.index.rolex;
