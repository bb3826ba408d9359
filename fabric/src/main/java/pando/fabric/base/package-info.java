/** What all fabrics share. */
package pando.fabric.base;
