/**
 * Figures and tables of the papers, reproduced in virtual time, with the paper's numbers next to
 * ours; and figures of the project's own.
 */
package pando.bench.figure;
