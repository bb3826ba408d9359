/**
 * A compute server's side: {@link pando.client.server.ClientService} serves an index to clients.
 */
package pando.client.server;
