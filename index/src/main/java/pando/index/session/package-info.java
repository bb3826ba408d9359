/** What the sessions of every system share. */
package pando.index.session;
