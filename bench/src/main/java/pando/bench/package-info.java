/** The {@code pando} command and its subcommands. Start reading at {@link pando.bench.Main}. */
package pando.bench;
