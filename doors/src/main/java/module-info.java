import org.jspecify.annotations.NullMarked;

/** Servers over an index, for clients that others have written. */
@NullMarked
module pando.doors {
  requires static transitive org.jspecify;
  requires io.netty.buffer;
  requires io.netty.codec;
  requires io.netty.common;
  requires io.netty.handler;
  requires io.netty.transport;
  requires transitive pando.durable;
  requires transitive pando.index;

  exports pando.door.resp;
}
