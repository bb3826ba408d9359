/**
 * Figures and tables of the papers, reproduced in virtual time, with the paper's numbers next to
 * ours; and figures of the project's own. A figure is an entry in the class of its paper, such as
 * {@code DexFigures}: a name, a title, a testbed ({@code Lab}), and a method that adds its rows.
 */
package pando.bench.figure;
