package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KeyVersionsTest {
  private final KeyVersions versions = new KeyVersions();
  private final KeyVersions.Changes one = versions.newChanges();
  private final KeyVersions.Changes other = versions.newChanges();

  @Test
  void shouldChangeFromTheBeginOfAChangeOn() {
    long before = versions.version(1);
    one.begin(1);
    assertThat(versions.version(1)).isEqualTo(KeyVersions.CHANGING);
    assertThat(versions.version(2)).isEqualTo(before);
    other.begin(1);
    other.end(1);
    assertThat(versions.version(1)).isEqualTo(KeyVersions.CHANGING);
    one.end(1);
    assertThat(versions.version(1)).isGreaterThan(before);
    long after = versions.version(1);
    other.add(1);
    assertThat(versions.version(1)).isGreaterThan(after);
  }

  /** A command may name a key twice. */
  @Test
  void shouldEndBehindTheOuterChange() {
    long before = versions.version(1);
    one.begin(1);
    one.begin(1);
    one.end(1);
    one.end(1);
    assertThat(versions.version(1)).isGreaterThan(before).isNotEqualTo(KeyVersions.CHANGING);
  }

  @Test
  void shouldTellDatabasesAndKeysApart() {
    byte[] bytes = "a longer key, a longer kez".getBytes(ISO_8859_1);
    int hash = KeyVersions.hash(0, bytes, 0, 12);
    assertThat(KeyVersions.hash(1, bytes, 0, 12)).isNotEqualTo(hash);
    assertThat(KeyVersions.hash(0, bytes, 14, 12)).isNotEqualTo(hash);
    assertThat(KeyVersions.hash(0, "a longer key".getBytes(ISO_8859_1), 0, 12)).isEqualTo(hash);
  }
}
