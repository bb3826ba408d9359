/**
 * Memory servers in processes of their own on the same machine: their memory is a sealed memory
 * file that compute servers map.
 */
package pando.fabric.shm;
