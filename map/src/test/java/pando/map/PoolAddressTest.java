package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.PoolFullException;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.SystemMemory;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.Systems;
import pando.index.orca.OrcaOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** The sizes in an address of {@code Pando.open}, and the usage that a map reports. */
class PoolAddressTest {
  private static final long MIB = 1 << 20;

  private static PandoMap<String, byte[]> map(Pando pando) {
    return pando.map(KeyCodec.strings(), ValueCodec.byteArrays());
  }

  @Test
  void shouldOpenAPoolOfTheSizeThatIsNamed() {
    try (Pando pando = Pando.open("local:?size=64MiB&cache=4MiB")) {
      PandoMap<String, byte[]> map = map(pando);
      MapUsage before = map.usage();
      assertThat(before.keys()).isZero();
      assertThat(before.capacityBytes()).isEqualTo(64 * MIB);
      for (int i = 0; i < 500; i++) {
        map.put("key" + i, new byte[32 << 10]);
      }
      MapUsage after = map.usage();
      assertThat(after.keys()).isBetween(450L, 550L);
      assertThat(after.usedBytes() - before.usedBytes()).isBetween(500 * (32L << 10), 64 * MIB);
      assertThat(after.capacityBytes()).isEqualTo(64 * MIB);
    }
  }

  @Test
  void shouldRefuseEntriesBeyondTheSizeThatIsNamed() {
    try (Pando pando = Pando.open("local:?size=32MiB")) {
      PandoMap<String, byte[]> map = map(pando);
      assertThatThrownBy(
              () -> {
                for (int i = 0; ; i++) {
                  map.put("key" + i, new byte[32 << 10]);
                }
              })
          .isInstanceOf(PoolFullException.class)
          .hasMessageContaining("memory pool is full (remove entries, or use a pool with more")
          .hasMessageContaining("capacityBytes=" + 32 * MIB);
      assertThat(map.usage().keys()).isBetween(100L, 1_024L);
    }
  }

  @Test
  void shouldReserveMemoryWithoutTakingIt() {
    long before = NativeMemory.bytesInUse();
    long resident = SystemMemory.own().residentBytes();
    try (Pando pando = Pando.open("local:?size=8GiB&cache=1GiB")) {
      PandoMap<String, byte[]> map = map(pando);
      map.put("key", new byte[100]);
      assertThat(NativeMemory.bytesInUse() - before).isGreaterThan(8 << 30L);
      assertThat(SystemMemory.own().residentBytes() - resident).isLessThan(100 * MIB);
    }
  }

  @Test
  void shouldHaveHalfOfTheMemoryWithoutASize() {
    long half = SystemMemory.own().limitBytes() / 2;
    try (Pando pando = Pando.open("local:")) {
      assertThat(map(pando).usage().capacityBytes()).isBetween(half - 32 * MIB, half);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "local:?",
        "local:?size",
        "local:?size=",
        "local:?size=large",
        "local:?size=1MiB",
        "local:?size=-1",
        "local:?size=1PiB",
        "local:?size=1GiB&size=2GiB",
        "local:?cache=2XB",
        "local:?sice=1GiB",
        "local:?size=1GiB&",
        "local?size=1GiB",
        "shm:pool?size=1GiB",
        "remote:"
      })
  void shouldRefuseWhatIsNoSizeAndSayWhatItTakes(String address) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pando.open(address))
        .withMessageMatching("(?s).*(known[=:]|takes a size such as|least=33554432).*");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "local                 | did you mean local:?",
        "locl:?size=1GiB       | did you mean local:?",
        "local:?sise=2GiB      | no such setting of this pool: setting=sise=2GiB",
        "local:?sise=2GiB      | did you mean size?",
        "local:?size           | a setting without a value: setting=size",
        "local:?size=1&size=2  | a setting that is there twice: setting=size=2",
        "local:?size=2gb       | 20MB (20 million), 64KiB (64 times 1024) or 2GiB: value=2gb"
      })
  void shouldSayWhatIsMeantInPlaceOfAnAddress(String address, String said) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pando.open(address))
        .withMessageContaining(said);
  }

  @Test
  void shouldTakeDecimalSizes() {
    try (Pando pando = Pando.open("local:?size=80MB")) {
      assertThat(map(pando).usage().capacityBytes()).isEqualTo(64 * MIB).isLessThan(80_000_000);
    }
  }

  @Test
  void shouldShowWhereItIsAndWhetherItIsOpen() {
    Pando pando = Pando.open("local:?size=64MiB");
    assertThat(pando).hasToString("Pando[local:, no map yet, open]");
    map(pando).put("key", new byte[1]);
    assertThat(pando).hasToString("Pando[local:, map of byte-strings, open]");
    pando.close();
    assertThat(pando).hasToString("Pando[local:, map of byte-strings, closed]");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldSayHowProcessesShareAMap() {
    String name = "map-twice-" + ProcessHandle.current().pid();
    PoolOptions options =
        PoolOptions.defaults().withBytesPerServer(64 * MIB).withHandlers(Systems.handlers());
    try (ShmMemoryServer server = ShmMemoryServer.start(name, 0, options);
        Pando first = Pando.open("shm:" + server.place());
        Pando second = Pando.open("shm:" + server.place())) {
      map(first).put("key", new byte[1]);
      assertThatIllegalStateException()
          .isThrownBy(() -> map(second))
          .withMessageContaining("holds an index already")
          .withMessageContaining("client:HOST:PORT");
    }
  }

  @Test
  void shouldPreferTheCacheThatIsNamed() {
    OrcaOptions small = OrcaOptions.defaults().withCacheBytes(1 << 20);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pando.open("local:?cache=1KiB", small))
        .withMessageContaining("cache");
    try (Pando pando = Pando.open("local:?cache=8MiB", small)) {
      assertThat(map(pando).isEmpty()).isTrue();
    }
  }
}
