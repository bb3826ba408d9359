/**
 * Sherman (SIGMOD 2022): a B-link tree. Writers lock nodes by hierarchical on-chip locks and WRITE
 * single entries. Readers take no lock. With other settings the same tree is FG+, the baseline of
 * that paper, and P-Sherman, the variant of the DEX paper.
 *
 * <p>The code relies only on what the fabric promises: aligned parts of {@code atomicityBytes} land
 * as one, and verbs of one worker to one memory server take effect in posting order. How a reader
 * detects a torn node is a {@linkplain pando.baselines.sherman.ShermanValidation setting}.
 */
package pando.baselines.sherman;
