/**
 * Lanes: platform threads that carry virtual threads, so that many verbs are under way on a core.
 */
package pando.fabric.lane;
