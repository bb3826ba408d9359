package pando.fabric.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;

class LocalFabricTest extends FabricContract {
  @Override
  protected Fabric open(PoolOptions options) {
    return LocalFabric.open(options);
  }

  @Override
  protected void stop() {}

  @Test
  void shouldOpenAPoolOfManyGibibytesAtOnce() {
    PoolOptions options = PoolOptions.defaults().withMemoryServers(4).withBytesPerServer(64L << 30);
    try (Fabric fabric = LocalFabric.open(options);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      long last = GlobalAddress.of(3, fabric.dramBytes(3) - 8);
      assertThat(worker.faa(last, 5)).isZero();
      worker.read(last, 0, 8);
      assertThat(Words.get(worker.memory(), 0)).isEqualTo(5);
    }
  }
}
