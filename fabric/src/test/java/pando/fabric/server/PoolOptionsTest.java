package pando.fabric.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class PoolOptionsTest {
  private static final PoolOptions DEFAULTS = PoolOptions.defaults();

  @Test
  void shouldRefuseWhatIsOutOfRange() {
    assertThatThrownBy(() -> DEFAULTS.withMemoryServers(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memoryServers=0, minimum=1, maximum=64");
    assertThatThrownBy(() -> DEFAULTS.withMemoryServers(65)).hasMessageContaining("=65");
    assertThatThrownBy(() -> DEFAULTS.withBytesPerServer(1023)).hasMessageContaining("=1023");
    assertThatThrownBy(() -> DEFAULTS.withBytesPerServer(-1)).hasMessageContaining("=-1");
    assertThatThrownBy(() -> DEFAULTS.withBytesPerServer(1L << 62)).hasMessageContaining("maximum");
    assertThatThrownBy(() -> DEFAULTS.withChunkBytes(4097)).hasMessageContaining("4097");
    assertThatThrownBy(() -> DEFAULTS.withProcessorThreads(0)).hasMessageContaining("=0");
  }

  @Test
  void shouldRefuseFunctionsThatAreTakenOrReserved() {
    assertThatThrownBy(() -> DEFAULTS.withHandlers(List.of(handler(15))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("=15, minimum=16, maximum=255");
    assertThatThrownBy(() -> DEFAULTS.withHandlers(List.of(handler(256))))
        .hasMessageContaining("=256");
    assertThatThrownBy(() -> DEFAULTS.withHandlers(List.of(handler(20), handler(20))))
        .hasMessageContaining("function=20");
  }

  private static CallHandler handler(int function) {
    return new CallHandler() {
      @Override
      public int function() {
        return function;
      }

      @Override
      public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
        return 0;
      }
    };
  }
}
