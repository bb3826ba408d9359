/** What the fabrics of real machines share, whichever way their verbs take. */
package pando.fabric.base;
