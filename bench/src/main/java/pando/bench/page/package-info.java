/** Figures as diagrams: a page in HTML, and pictures for the README. */
package pando.bench.page;
