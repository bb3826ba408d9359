/**
 * Figures and tables of the papers, reproduced in virtual time, with the paper's numbers next to
 * ours.
 */
package pando.bench.figure;
