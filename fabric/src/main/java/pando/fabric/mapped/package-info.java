/**
 * The compute side of every fabric whose memory servers are mapped into this process: verbs become
 * loads, stores and atomic instructions, CALLs go through the mailbox.
 */
package pando.fabric.mapped;
