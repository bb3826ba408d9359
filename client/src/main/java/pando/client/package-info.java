/**
 * Clients of compute servers: {@link pando.client.PandoClient} connects, {@link
 * pando.client.ClientSession} is a {@link pando.index.Session} over the network.
 */
package pando.client;
