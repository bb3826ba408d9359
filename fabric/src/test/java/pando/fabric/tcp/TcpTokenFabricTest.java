package pando.fabric.tcp;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;

/** As over plain TCP, but that both sides have a secret. */
@Tag("campaign")
class TcpTokenFabricTest extends TcpFabricTest {
  @TempDir private Path directory;

  @Override
  protected Fabric open(PoolOptions options) throws IOException {
    Authentication token = TestFiles.token(directory, "Sixteen bytes, or more.");
    return open(options, token, token);
  }
}
