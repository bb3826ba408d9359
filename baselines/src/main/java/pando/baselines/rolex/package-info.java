/**
 * ROLEX (FAST 2023): a learned index whose models are retrained concurrently with the sessions.
 * Lines trained on the keys predict the leaf of a key; leaves are READ by one-sided verbs.
 */
package pando.baselines.rolex;
