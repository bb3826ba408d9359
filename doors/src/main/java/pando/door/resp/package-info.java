/**
 * A server that clients of Redis talk to, over an ordered index of byte strings: {@link
 * pando.door.resp.RespDoor}.
 */
package pando.door.resp;
