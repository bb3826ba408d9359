package pando.door.resp;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import pando.fabric.memory.SystemMemory;
import pando.journal.DataFolder;
import pando.journal.Log;

/** What {@code INFO} says: fields of Redis that programs look for, and some of Pando. */
final class ServerInfo {
  private static final List<String> ALL = List.of("all", "everything");
  private static final String COMMANDS = "commandstats";
  private static final String UNITS = "KMGTP";

  private final RespCall call;
  private final Door door;
  private final Map<String, String> sections = new LinkedHashMap<>();

  ServerInfo(RespCall call) {
    this.call = call;
    this.door = call.door;
  }

  /** Returns the sections that the request names, or those that are usual. */
  String text() {
    addSections();
    Set<String> usual = new HashSet<>(sections.keySet());
    usual.remove(COMMANDS);
    Set<String> wanted = new HashSet<>(call.request.count() == 1 ? usual : Set.of());
    for (int i = 1; i < call.request.count(); i++) {
      String name = call.request.text(i).toLowerCase(Locale.ROOT);
      wanted.addAll(
          ALL.contains(name) ? sections.keySet() : name.equals("default") ? usual : Set.of(name));
    }
    StringBuilder text = new StringBuilder();
    sections.forEach((name, lines) -> {
      if (wanted.contains(name)) {
        text.append(text.isEmpty() ? "" : "\r\n");
        text.append("# ").append(Character.toUpperCase(name.charAt(0))).append(name.substring(1));
        text.append("\r\n").append(lines.replace("\n", "\r\n"));
      }
    });
    return text.toString();
  }

  private void addSections() {
    sections.put("server", server());
    sections.put("clients", clients());
    sections.put("memory", memory());
    sections.put("persistence", persistence());
    sections.put("stats", stats());
    sections.put("replication", "role:master\nconnected_slaves:0\nmaster_repl_offset:0\n");
    sections.put("cpu", cpu());
    sections.put("modules", "");
    sections.put(COMMANDS, commands());
    sections.put("cluster", "cluster_enabled:0\n");
    sections.put("keyspace", keyspace());
  }

  private String server() {
    return """
    redis_version:%s
    redis_mode:standalone
    pando_version:%s
    os:%s %s %s
    arch_bits:64
    process_id:%d
    run_id:%s
    tcp_port:%d
    uptime_in_seconds:%d
    uptime_in_days:%d
    """
        .formatted(
            ServerCommands.REDIS_VERSION,
            ServerCommands.VERSION,
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            System.getProperty("os.arch"),
            ProcessHandle.current().pid(),
            door.runId(),
            door.port(),
            door.upSeconds(),
            Duration.ofSeconds(door.upSeconds()).toDays());
  }

  private String clients() {
    return """
    connected_clients:%d
    maxclients:%d
    blocked_clients:0
    """
        .formatted(door.clients().count(), door.clients().most());
  }

  private String memory() {
    long used = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    long resident = SystemMemory.own().residentBytes();
    return """
    used_memory:%d
    used_memory_human:%s
    used_memory_rss:%d
    used_memory_rss_human:%s
    maxmemory:0
    maxmemory_human:0B
    maxmemory_policy:noeviction
    mem_allocator:jvm
    %spando_waiting_bytes:%d
    """
        .formatted(used, human(used), resident, human(resident), sizes(), door.waiting().bytes());
  }

  private static String human(long bytes) {
    int unit = (63 - Long.numberOfLeadingZeros(Math.max(bytes, 1))) / 10;
    return unit == 0
        ? bytes + "B"
        : String.format(
            Locale.ROOT, "%.2f%s", bytes / Math.pow(1024, unit), UNITS.charAt(unit - 1));
  }

  private String sizes() {
    StringBuilder lines = new StringBuilder();
    door.keyspace()
        .sizes()
        .forEach((name, number) ->
            lines.append("pando_%s:%d\n".formatted(name.replace('.', '_'), number)));
    return lines.toString();
  }

  private String persistence() {
    DataFolder folder = door.folder();
    if (folder == null) {
      return "loading:0\naof_enabled:0\nrdb_bgsave_in_progress:0\n";
    }
    Log log = folder.log();
    String status = log.hindrance().isEmpty() ? "ok" : "err";
    long synced = log.synced();
    return """
    loading:0
    async_loading:0
    rdb_bgsave_in_progress:0
    rdb_last_save_time:%d
    rdb_last_bgsave_status:%s
    aof_enabled:1
    aof_rewrite_in_progress:0
    aof_rewrite_scheduled:0
    aof_last_bgrewrite_status:ok
    aof_last_write_status:%s
    pando_log_end:%d
    pando_log_synced:%d
    """
        .formatted(log.safeMillis() / 1000, status, status, log.end(), synced);
  }

  private String stats() {
    return """
    total_connections_received:%d
    total_commands_processed:%d
    total_net_input_bytes:%d
    total_net_output_bytes:%d
    rejected_connections:%d
    expired_keys:%d
    evicted_keys:0
    keyspace_hits:%d
    keyspace_misses:%d
    pubsub_channels:0
    total_error_replies:%d
    """
        .formatted(
            door.clients().came(),
            door.served(),
            door.sum(lane -> lane.bytesIn),
            door.sum(lane -> lane.bytesOut),
            door.clients().refused(),
            door.keyspace().expiredCount(),
            door.sum(lane -> lane.hits),
            door.sum(lane -> lane.misses),
            door.sum(lane -> lane.refused + lane.failed));
  }

  /** The system does not say in Java how much of it was for the kernel. */
  private static String cpu() {
    double seconds =
        ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
    return String.format(Locale.ROOT, "used_cpu_sys:0.000000\nused_cpu_user:%.6f\n", seconds);
  }

  private String commands() {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < CommandTable.SLOTS; i++) {
      int slot = i;
      Command command = door.commands().at(slot);
      long calls = door.sum(lane -> lane.commands[slot]);
      if (command != null && calls > 0) {
        lines.append(
            "cmdstat_%s:calls=%d,rejected_calls=%d,failed_calls=%d\n"
                .formatted(
                    command.name().toLowerCase(Locale.ROOT),
                    calls,
                    door.sum(lane -> lane.rejectedCommands[slot]),
                    door.sum(lane -> lane.failedCommands[slot])));
      }
    }
    return lines.toString();
  }

  private String keyspace() {
    StringBuilder lines = new StringBuilder();
    long[] counts = door.keyspace().counts();
    long[] timed = door.keyspace().timedCounts();
    for (int database = 0; database < counts.length; database++) {
      if (counts[database] > 0) {
        lines.append(
            "db%d:keys=%d,expires=%d,avg_ttl=0\n"
                .formatted(database, counts[database], timed[database]));
      }
    }
    return lines.toString();
  }
}
