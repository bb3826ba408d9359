/** Figures as diagrams: a page in HTML, and pictures for the documents. */
package pando.bench.page;
