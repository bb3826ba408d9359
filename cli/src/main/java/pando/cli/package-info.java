/**
 * The {@code pando} command: servers, clusters and clients. {@link pando.cli.Main} runs it; other
 * modules add commands by {@link pando.cli.CommandProvider}.
 */
package pando.cli;
