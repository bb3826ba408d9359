package pando.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.index.bytes.BatchSize;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteReceiver;

/**
 * Operations of a session of byte strings that are under way together, some of a list at a time: at
 * most {@link BatchSize#OPERATIONS_MAX}, with {@link BatchSize#BYTES} to be sent, or that have
 * found about as many before. A key is not stored twice at a time. Not thread-safe.
 */
final class ByteBatch {
  private static final int CALLS_MIN = 16;

  private final ClientStrings strings;
  private final Dispatch dispatch;
  private final BatchSize size = new BatchSize();
  private final Set<ByteBuffer> stored = new HashSet<>();
  private ByteCall[] calls = new ByteCall[0];

  /** Operations that are under way, or have been. */
  private int count;

  ByteBatch(ClientStrings strings, Dispatch dispatch) {
    this.strings = strings;
    this.dispatch = dispatch;
  }

  /** Looks keys up, or stores values. */
  void run(List<MemorySegment> keys, @Nullable List<MemorySegment> values, ByteReceiver receiver) {
    int next = 0;
    boolean goesOn = true;
    while (goesOn && next < keys.size()) {
      strings.checkOpen();
      try {
        fill(keys, values, next);
        dispatch.run(calls, count);
        goesOn = deliver(next, receiver);
        next += count;
      } finally {
        forget();
      }
    }
  }

  /** Fills it with operations from a place of the list on. */
  private void fill(List<MemorySegment> keys, @Nullable List<MemorySegment> values, int from) {
    int atOnce = values == null ? size.lookups() : BatchSize.OPERATIONS_MAX;
    int most = Math.min(keys.size() - from, atOnce);
    long bytes = 0;
    while (count < most) {
      MemorySegment key = keys.get(from + count);
      MemorySegment value = values == null ? ByteCall.NOTHING : values.get(from + count);
      bytes += key.byteSize() + value.byteSize();
      boolean isTooMuch = count > 0 && bytes > BatchSize.BYTES;
      if (isTooMuch || (values != null && most > 1 && !stored.add(key.asByteBuffer()))) {
        return;
      }
      set(next(), values == null ? Op.GET : Op.STORE, key, value);
    }
  }

  private ByteCall next() {
    if (count == calls.length) {
      calls = Arrays.copyOf(calls, Math.max(CALLS_MIN, 2 * count));
      for (int i = count; i < calls.length; i++) {
        calls[i] = new ByteCall();
      }
    }
    return calls[count++];
  }

  private void set(ByteCall call, int op, MemorySegment key, MemorySegment value) {
    call.operation(op, key, value, ByteCall.NOTHING);
    try {
      ByteArguments.checkKey(key, strings.keyBytesMax());
      ByteArguments.checkValue(value, strings.valueBytesMax());
    } catch (IllegalArgumentException e) {
      call.settle(e);
    }
  }

  /** Hands out what the operations came to; returns whether others begin. */
  private boolean deliver(int from, ByteReceiver receiver) {
    long bytes = 0;
    boolean goesOn = true;
    for (int i = 0; i < count; i++) {
      ByteCall call = calls[i];
      RuntimeException failure = call.failure;
      MemorySegment value = null;
      if (failure == null && call.op == Op.GET && call.outcome == Outcome.YES) {
        try {
          value = call.value();
          bytes += value.byteSize();
        } catch (ClientException isTooLong) {
          failure = isTooLong;
        }
      }
      goesOn &= receiver.receive(from + i, value, failure);
    }
    if (calls[0].op == Op.GET) {
      size.found(count, bytes);
    }
    return goesOn;
  }

  /** Forgets the operations, and bytes of them and that they have found. */
  private void forget() {
    for (int i = 0; i < count; i++) {
      calls[i].forget();
    }
    count = 0;
    stored.clear();
  }
}
