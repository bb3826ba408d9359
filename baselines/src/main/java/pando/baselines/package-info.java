/**
 * The list of the systems of papers, and what only they share: {@linkplain pando.baselines.blink
 * B-link trees} and {@linkplain pando.baselines.lock locks}.
 */
@NullMarked
package pando.baselines;

import org.jspecify.annotations.NullMarked;
