/**
 * The {@code pando} command and its subcommands, for the demo, benchmarks, the simulator and memory
 * servers. Start reading at {@link pando.cli.Main}.
 */
package pando.bench;
