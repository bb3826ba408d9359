package pando.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import pando.client.server.FrameLine;
import pando.client.server.FrameService;
import pando.index.Partitioning;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteStrings;

/**
 * A host with two compute servers of byte strings, without sockets: they answer while a client
 * waits, and each wait counts. For one thread at a time.
 */
public final class FramesHost implements ClientHost {
  private static final List<String> ADDRESSES = List.of("compute:1", "compute:2");

  private final List<FrameService> services = new ArrayList<>();
  private long nanos;
  private long waits;
  private long operations;

  /** Has both servers serve the same byte strings, half of the keys each. */
  public FramesHost(ByteStrings strings) {
    Routes routes = Routes.of(halves(), owner -> Optional.of(ADDRESSES.get(owner)));
    ADDRESSES.forEach(_ -> services.add(new FrameService(strings, () -> routes)));
  }

  /** Returns two ranges of byte strings, of which each has half of the first bytes. */
  public static Partitioning halves() {
    return Partitioning.equalWidth(2).withFences(List.of(ByteKeys.of(), ByteKeys.of((byte) 0x80)));
  }

  /** Connects a client; closing it closes the servers. */
  public PandoClient connect() {
    return PandoClient.connect(ADDRESSES, ClientOptions.defaults(), this);
  }

  /** Returns how often a client has waited for a server. */
  public long waits() {
    return waits;
  }

  /** Returns how many operations the servers have done. */
  public long operations() {
    return operations;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void pause(long duration) {
    nanos += duration;
  }

  @Override
  public long random() {
    return 1;
  }

  @Override
  public Line line(String address) {
    return new FramesLine(services.get(ADDRESSES.indexOf(address)));
  }

  @Override
  public void close() {
    services.forEach(FrameService::close);
  }

  private final class FramesLine extends FrameLine {
    private final FrameService service;

    FramesLine(FrameService service) {
      this.service = Objects.requireNonNull(service);
    }

    @Override
    public void await(long nanosMax) throws IOException {
      if (!hasResponses()) {
        waits++;
        addResponses(service.serve(takeRequests(), _ -> operations++));
      }
    }
  }
}
