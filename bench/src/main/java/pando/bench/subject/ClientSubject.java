package pando.bench.subject;

import pando.client.ClientBatch;
import pando.client.PandoClient;
import pando.index.EntrySource;

/** An index that compute servers in other processes serve, as their clients reach it. */
public final class ClientSubject implements Subject {
  private static final int LOADED_TOGETHER = 1_024;

  private final PandoClient client;

  /**
   * Wraps a client.
   *
   * @param client closed with this subject; the index is empty
   */
  public ClientSubject(PandoClient client) {
    this.client = client;
  }

  @Override
  public String name() {
    return client.status().stream()
        .map(server -> server.system() + ", client")
        .findFirst()
        .orElse("client");
  }

  /** Stores entries as any client does, so nodes are not filled to a given share. */
  @Override
  public void load(EntrySource entries, double fill) {
    ClientBatch batch = client.batch();
    boolean some = true;
    while (some) {
      batch.clear();
      some = false;
      while (batch.size() < LOADED_TOGETHER && entries.next()) {
        batch.store(entries.key(), entries.value());
        some = true;
      }
      batch.run();
      for (int place = 0; place < batch.size(); place++) {
        batch.result(place);
      }
    }
  }

  @Override
  public Access access() {
    return new SessionAccess(client.session());
  }

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public void close() {
    client.close();
  }
}
