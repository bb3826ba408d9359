package pando.fabric.tcp;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.TestAuthority;

/** As over plain TCP, but that both sides have certificates. */
@Tag("campaign")
class TcpTlsFabricTest extends TcpFabricTest {
  /** Some milliseconds of processor time each. */
  private static final int MANY_WORKERS = 50;

  @TempDir private Path directory;

  @Override
  protected int manyWorkers() {
    return MANY_WORKERS;
  }

  private Authentication admin = Authentication.none();

  @Override
  protected Fabric open(PoolOptions options) throws IOException {
    TestAuthority authority = new TestAuthority(directory);
    admin = TestFiles.tls(authority.sign("pando://grove/admin/a"));
    return open(
        options,
        TestFiles.tls(authority.sign("pando://grove/memory/m")),
        TestFiles.tls(authority.sign("pando://grove/compute/c")));
  }

  @Override
  protected Authentication fencing(Authentication ofFabric) {
    return admin;
  }
}
