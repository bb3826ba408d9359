/**
 * Indexes of words and of byte strings that log what changes them. {@link
 * pando.durable.DurableIndex} and {@link pando.durable.DurableStrings} are where to begin; {@link
 * pando.durable.ChangeTurn} has the story of a change.
 */
package pando.durable;
