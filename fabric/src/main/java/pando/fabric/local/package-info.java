/** Memory servers inside this JVM: the embedded default. */
package pando.fabric.local;
