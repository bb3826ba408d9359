/** Named settings of an index: how they are written, checked and explained. */
package pando.index.settings;
