/** What fabrics share, whichever way their verbs take. */
package pando.fabric.base;
