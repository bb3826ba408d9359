/** Figures and tables of the papers, run again in virtual time, the paper's numbers beside ours. */
package pando.bench.figure;
