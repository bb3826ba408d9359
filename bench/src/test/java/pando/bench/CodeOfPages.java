package pando.bench;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import pando.client.ClientBatch;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.cluster.Change;
import pando.cluster.ClusterAddress;
import pando.cluster.ClusterState;
import pando.cluster.ComputeServerProcess;
import pando.cluster.ComputeServerSettings;
import pando.cluster.Membership;
import pando.cluster.MembershipProvider;
import pando.door.resp.RespDoor;
import pando.door.resp.RespOptions;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpOptions;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.journal.DataFolder;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;
import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import pando.metrics.PandoHttp;
import pando.metrics.PandoMetrics;

/**
 * The Java code of pages that is no whole sample, so that the compiler reads it. {@link PagesTest}
 * checks that it is the same.
 */
@SuppressWarnings("unused")
final class CodeOfPages {
  private CodeOfPages() {}

  static void client() {
    try (PandoClient client =
            PandoClient.connect("host:7480,host2:7480", ClientOptions.defaults());
        ClientSession session = client.session()) { // one for each thread
      session.put(1, 10);
      ClientBatch batch = client.batch(); // many operations under way
      int first = batch.get(1);
      batch.put(2, 20);
      batch.run();
      System.out.println(batch.result(first) ? batch.value(first) : "absent");
    }
  }

  static void byteStrings(MemorySegment key, MemorySegment value) {
    try (PandoClient client =
            PandoClient.connect("host:7480,host2:7480", ClientOptions.defaults());
        ByteSession session = client.byteStrings().session()) { // one for each thread
      session.put(key, value); // MemorySegments
    }
  }

  static void mapOverClient(PandoClient client) {
    // a second argument, ClientOptions, is for TLS or a secret
    try (Pando pando = Pando.open("client:host:7480,host2:7480");
        PandoMap<Long, Integer> map = pando.map(KeyCodec.longs(), KeyCodec.ints())) {
      map.merge(7L, 1, Integer::sum);
    }
    // or over a client that is there
    PandoMap<Long, Integer> map = PandoMap.of(client, KeyCodec.longs(), KeyCodec.ints());
  }

  static void sharedStrings(Fabric fabric, MemorySegment key, MemorySegment value) {
    try (ByteIndex index = ByteIndex.joinAt(fabric, ByteOptions.defaults(), 1); // or createAt
        ByteSession session = index.session()) { // one for each thread
      session.put(key, value); // memory segments of up to 65,535 bytes and 16 MiB
    }
  }

  static void door(ByteIndex index) throws IOException, InterruptedException {
    try (RespDoor door = RespDoor.open(index, RespOptions.loopback(6379))) {
      door.awaitClosed();
    }
  }

  static void folderDoor(Path path, Fabric fabric) throws IOException, InterruptedException {
    LogOptions options = LogOptions.defaults().withSync(SyncPolicy.ALWAYS);
    try (DataFolder folder = DataFolder.open(path, DurableStrings.KIND, options);
        DurableStrings strings = DurableStrings.open(folder, ByteOptions.defaults(), fabric);
        RespDoor door = RespDoor.open(strings, RespOptions.loopback(6379))) {
      door.awaitClosed();
    }
  }

  static void wordsBecomeNamed() {
    try (Pando words = Pando.open("local:/data/words");
        Pando maps = Pando.open("local:/data/maps")) {
      maps.map("counts", KeyCodec.longs(), ValueCodec.longs())
          .putAll(words.map(KeyCodec.longs(), ValueCodec.longs()));
    }
  }

  static void sharedDoor() throws IOException, InterruptedException {
    try (PandoClient client =
            PandoClient.connect("host:7480,host2:7480", ClientOptions.defaults());
        RespDoor door =
            RespDoor.openShared(
                client.byteStrings(), RespOptions.loopback(6379).withEventLoops(8))) {
      door.awaitClosed();
    }
  }

  static void seeing(PandoMap<Long, Integer> map, MeterRegistry registry) throws IOException {
    try (PandoHttp http = PandoHttp.serve(map, 8080)) { // 0 for any free port
      System.out.println(http.uri());
      // the program
    }
    new PandoMetrics(map).bindTo(registry); // instead, if there is a Micrometer registry already
  }

  static void thirdMachine() throws IOException {
    Authentication tls =
        Authentication.tls(Path.of("c0.pem"), Path.of("c0.key"), Path.of("ca.pem"));
    List<InetSocketAddress> addresses =
        List.of(new InetSocketAddress("10.0.0.1", 7460), new InetSocketAddress("10.0.0.2", 7460));
    Fabric fabric = TcpFabric.attach(addresses, 1, TcpOptions.defaults().withAuthentication(tls));
  }

  static void cluster(ComputeServerSettings settings, Duration time) throws IOException {
    ClusterAddress grove = ClusterAddress.parse("10.0.0.1:2181/grove");
    Duration timeout = Duration.ofSeconds(5);
    Supplier<Membership> sessions = () -> MembershipProvider.installed().connect(grove, timeout);
    // the first one makes the index, each further one gets a part of the largest range
    ComputeServerProcess.start(sessions, settings);
    ClusterState state = new ClusterState(sessions.get());
    int id = state.ask(Change.remove(2)); // state.awaitEnd(id, time) returns how it ends
  }
}
