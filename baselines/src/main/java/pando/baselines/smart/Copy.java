package pando.baselines.smart;

import java.lang.foreign.MemorySegment;

/**
 * What a copy of an inner node says about one path: the node, and its slot for the path's next
 * byte. The copy may be old. Each worker reuses its own.
 */
final class Copy {
  /** Address of the node. */
  long address;

  /** Id of the node. */
  long id;

  /** Header of the node when it was copied. */
  long header;

  /** Number of the slot for the path's next byte, -1 if the copy has none. */
  int index;

  /** The slot for the path's next byte, {@link Slot#NEVER} if the copy has none. */
  long slot;

  /** Returns the number of bytes of the node's path. */
  int depth() {
    return NodeLayout.depth(header);
  }

  /** Returns the type that the node had. */
  int type() {
    return NodeLayout.type(header);
  }

  /** Makes this the copy of a node that was READ. */
  void set(MemorySegment memory, long image, long node, long path) {
    address = node;
    id = NodeLayout.id(memory, image);
    header = NodeLayout.header(memory, image);
    int wanted = KeyPath.byteAt(path, depth());
    index = NodeLayout.find(memory, image, NodeLayout.capacity(type()), wanted);
    slot = index < 0 ? Slot.NEVER : NodeLayout.slot(memory, image, index);
  }
}
