/**
 * Sherman (SIGMOD 2022): a B-link tree whose writers lock nodes by hierarchical on-chip locks and
 * write back single entries, and whose readers take no lock. With other settings the same tree is
 * FG+, the baseline of that paper, and P-Sherman, the variant of the DEX paper.
 *
 * <p>Relies on no more than the fabric promises: that aligned parts of {@code atomicityBytes} land
 * as one, and that verbs of one worker to one memory server take effect in posting order. How a
 * reader tells a torn node is a {@linkplain pando.index.sherman.Validation choice}.
 */
package pando.index.sherman;
