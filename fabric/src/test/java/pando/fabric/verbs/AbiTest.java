package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the offsets with the library's headers: has the C compiler check a program that claims
 * them all, where both are installed.
 */
class AbiTest {
  private static final Path HEADER = Path.of("/usr/include/infiniband/verbs.h");

  /**
   * Another one compares the offsets of another architecture, if the property {@code os.arch} names
   * that: {@code -Dos.arch=aarch64 "-Dpando.abi.compiler=aarch64-linux-gnu-gcc -idirafter
   * /usr/include"}.
   */
  private static final String COMPILER = System.getProperty("pando.abi.compiler", "gcc");

  /** What the library's headers call our constants that are not named as a field of theirs. */
  private static final Map<String, String> EXPRESSIONS =
      Map.ofEntries(
          Map.entry("IbvSendWr.WRITE", "IBV_WR_RDMA_WRITE"),
          Map.entry("IbvSendWr.SEND_WITH_IMM", "IBV_WR_SEND_WITH_IMM"),
          Map.entry("IbvSendWr.READ", "IBV_WR_RDMA_READ"),
          Map.entry("IbvSendWr.COMPARE_AND_SWAP", "IBV_WR_ATOMIC_CMP_AND_SWP"),
          Map.entry("IbvSendWr.FETCH_AND_ADD", "IBV_WR_ATOMIC_FETCH_AND_ADD"),
          Map.entry("IbvSendWr.FENCE", "IBV_SEND_FENCE"),
          Map.entry("IbvSendWr.SIGNALED", "IBV_SEND_SIGNALED"),
          Map.entry("IbvSendWr.INLINE", "IBV_SEND_INLINE"),
          Map.entry("IbvSendWr.RDMA_REMOTE_ADDR", offset("ibv_send_wr", "wr.rdma.remote_addr")),
          Map.entry("IbvSendWr.RDMA_RKEY", offset("ibv_send_wr", "wr.rdma.rkey")),
          Map.entry("IbvSendWr.ATOMIC_REMOTE_ADDR", offset("ibv_send_wr", "wr.atomic.remote_addr")),
          Map.entry("IbvSendWr.ATOMIC_COMPARE_ADD", offset("ibv_send_wr", "wr.atomic.compare_add")),
          Map.entry("IbvSendWr.ATOMIC_SWAP", offset("ibv_send_wr", "wr.atomic.swap")),
          Map.entry("IbvSendWr.ATOMIC_RKEY", offset("ibv_send_wr", "wr.atomic.rkey")),
          Map.entry("IbvQpInitAttr.MAX_SEND_WR", offset("ibv_qp_init_attr", "cap.max_send_wr")),
          Map.entry("IbvQpInitAttr.MAX_RECV_WR", offset("ibv_qp_init_attr", "cap.max_recv_wr")),
          Map.entry("IbvQpInitAttr.MAX_SEND_SGE", offset("ibv_qp_init_attr", "cap.max_send_sge")),
          Map.entry("IbvQpInitAttr.MAX_RECV_SGE", offset("ibv_qp_init_attr", "cap.max_recv_sge")),
          Map.entry(
              "IbvQpInitAttr.MAX_INLINE_DATA", offset("ibv_qp_init_attr", "cap.max_inline_data")),
          Map.entry("IbvWc.RECV", "IBV_WC_RECV"),
          Map.entry("IbvQpInitAttr.RELIABLE_CONNECTION", "IBV_QPT_RC"),
          Map.entry("IbvQpAttr.DGID", offset("ibv_qp_attr", "ah_attr.grh.dgid")),
          Map.entry("IbvQpAttr.SGID_INDEX", offset("ibv_qp_attr", "ah_attr.grh.sgid_index")),
          Map.entry("IbvQpAttr.HOP_LIMIT", offset("ibv_qp_attr", "ah_attr.grh.hop_limit")),
          Map.entry("IbvQpAttr.DLID", offset("ibv_qp_attr", "ah_attr.dlid")),
          Map.entry("IbvQpAttr.IS_GLOBAL", offset("ibv_qp_attr", "ah_attr.is_global")),
          Map.entry("IbvQpAttr.AH_PORT_NUM", offset("ibv_qp_attr", "ah_attr.port_num")),
          Map.entry("IbvQpAttr.INIT", "IBV_QPS_INIT"),
          Map.entry("IbvQpAttr.READY_TO_RECEIVE", "IBV_QPS_RTR"),
          Map.entry("IbvQpAttr.READY_TO_SEND", "IBV_QPS_RTS"),
          Map.entry("IbvQpAttr.ERROR", "IBV_QPS_ERR"),
          Map.entry(
              "IbvQpAttr.INIT_MASK",
              "IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT"),
          Map.entry(
              "IbvQpAttr.READY_TO_RECEIVE_MASK",
              "IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN"
                  + " | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER"),
          Map.entry(
              "IbvQpAttr.READY_TO_SEND_MASK",
              "IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY"
                  + " | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC"),
          Map.entry("IbvQpAttr.ERROR_MASK", "IBV_QP_STATE"),
          Map.entry("IbvMr.LOCAL_WRITE", "IBV_ACCESS_LOCAL_WRITE"),
          Map.entry(
              "IbvMr.ALL_ACCESS",
              "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE"
                  + " | IBV_ACCESS_REMOTE_ATOMIC"),
          Map.entry("IbvPortAttr.ACTIVE", "IBV_PORT_ACTIVE"),
          Map.entry("IbvPortAttr.ETHERNET", "IBV_LINK_LAYER_ETHERNET"),
          Map.entry("IbvSrqInitAttr.MAX_WR", offset("ibv_srq_init_attr", "attr.max_wr")),
          Map.entry("IbvSrqInitAttr.MAX_SGE", offset("ibv_srq_init_attr", "attr.max_sge")),
          Map.entry("IbvContext.POLL_CQ", offset("ibv_context", "ops.poll_cq")),
          Map.entry("IbvContext.REQ_NOTIFY_CQ", offset("ibv_context", "ops.req_notify_cq")),
          Map.entry("IbvContext.POST_SRQ_RECV", offset("ibv_context", "ops.post_srq_recv")),
          Map.entry("IbvContext.POST_SEND", offset("ibv_context", "ops.post_send")),
          Map.entry("IbvContext.POST_RECV", offset("ibv_context", "ops.post_recv")));

  private static final String INCLUDES = "#include <stddef.h>\n#include <infiniband/verbs.h>\n";

  @Test
  void shouldAgreeWithTheHeaders() throws Exception {
    assumeTrue(Files.exists(HEADER), "NOT COMPARED: install libibverbs-dev; no " + HEADER);
    String program = INCLUDES + structs().flatMap(AbiTest::claims).reduce("", String::concat);

    assertThat(program.lines().filter(line -> line.startsWith("_Static_assert")))
        .hasSizeGreaterThan(100);
    assertThat(compile(program)).as(program).isEmpty();
  }

  @Test
  void shouldFindAWrongOffset() throws Exception {
    assumeTrue(Files.exists(HEADER), "NOT COMPARED: install libibverbs-dev; no " + HEADER);
    String program = INCLUDES + claim(offset("ibv_sge", "lkey"), Abi.IbvSge.LKEY + 4);

    assertThat(compile(program)).contains("static assertion failed");
  }

  private static Stream<Class<?>> structs() {
    return Arrays.stream(Abi.class.getDeclaredClasses());
  }

  private static Stream<String> claims(Class<?> struct) {
    return Arrays.stream(struct.getDeclaredFields()).map(field -> claim(struct, field));
  }

  private static String claim(Class<?> struct, Field field) {
    String key = struct.getSimpleName() + "." + field.getName();
    String expression = EXPRESSIONS.get(key);
    String cName = snake(struct.getSimpleName());
    if (field.getName().equals("BYTES")) {
      expression = "sizeof(struct " + cName + ")";
    } else if (field.getName().equals("BYTES_MAX")) {
      return "_Static_assert(sizeof(struct " + cName + ") <= " + value(field) + ", \"size\");\n";
    } else if (expression == null) {
      expression = offset(cName, field.getName().toLowerCase(Locale.ROOT));
    }
    return claim(expression, value(field));
  }

  private static String claim(String expression, int value) {
    return "_Static_assert((" + expression + ") == " + value + ", \"offset\");\n";
  }

  private static int value(Field field) {
    try {
      return field.getInt(null);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  private static String offset(String struct, String field) {
    return "offsetof(struct " + struct + ", " + field + ")";
  }

  private static String snake(String name) {
    return name.replaceAll("(?<=.)([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  /** Returns what the compiler says: nothing if all claims hold. */
  private static String compile(String program) throws IOException, InterruptedException {
    Path source = Files.createTempFile("pando-abi", ".c");
    try {
      Files.writeString(source, program);
      Process gcc = start(command(source));
      String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(gcc.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return said;
    } finally {
      Files.delete(source);
    }
  }

  private static List<String> command(Path source) {
    List<String> command = new ArrayList<>(List.of(COMPILER.split(" ", -1)));
    command.addAll(List.of("-fsyntax-only", source.toString()));
    return command;
  }

  private static Process start(List<String> command) {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new UncheckedIOException("NOT COMPARED: no C compiler", e);
    }
  }
}
