/** Tests that run over all systems: those of this module, and ORCA and DEX. */
package pando.baselines.suites;
