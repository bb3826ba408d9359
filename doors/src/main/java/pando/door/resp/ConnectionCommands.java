package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.module.ModuleDescriptor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.door.resp.Command.When;

/** Commands on the connection and on the server. */
final class ConnectionCommands {
  /** What some clients ask for before they believe that the server has a command. */
  private static final String REDIS_VERSION = "7.0.0";

  private static final String VERSION = version();
  private static final Map<String, String> CONFIGURATION =
      new TreeMap<>(Map.of("save", "", "appendonly", "no", "maxmemory", "0"));

  /** Greatest length of a name that a client gives itself or its library. */
  private static final int NAME_BYTES_MAX = 256;

  private static final Set<When> STRANGER = Set.of(When.STRANGER);
  private static final Set<When> ALWAYS = Set.of(When.values());

  private ConnectionCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("PING", -1, ConnectionCommands::ping),
        new Command("ECHO", 2, call -> reply(call, 1)),
        new Command("AUTH", -2, STRANGER, ConnectionCommands::auth),
        new Command("HELLO", -1, STRANGER, ConnectionCommands::hello),
        new Command("SELECT", 2, ConnectionCommands::select),
        new Command("QUIT", -1, ALWAYS, ConnectionCommands::quit),
        new Command("RESET", 1, ALWAYS, ConnectionCommands::reset),
        new Command("CLIENT", -2, ConnectionCommands::client),
        new Command("COMMAND", -1, ConnectionCommands::command),
        new Command("CONFIG", -2, ConnectionCommands::config),
        new Command("INFO", -1, ConnectionCommands::info),
        new Command("TIME", 1, ConnectionCommands::time));
  }

  private static String version() {
    ModuleDescriptor module = ConnectionCommands.class.getModule().getDescriptor();
    return module == null ? "unknown" : module.rawVersion().orElse("unknown");
  }

  private static void reply(Call call, int i) {
    call.replies.bulk(call.request.bytes(), call.request.start(i), call.request.length(i));
  }

  private static void ping(Call call) {
    switch (call.request.count()) {
      case 1 -> call.replies.simple("PONG");
      case 2 -> reply(call, 1);
      default -> throw Refusal.wrongArguments("ping");
    }
  }

  private static void auth(Call call) {
    Password password = call.door.password();
    int count = call.request.count();
    if (count > 3) {
      throw Refusal.syntax();
    }
    if (password == null && count == 2) {
      throw new Refusal(
          "ERR AUTH <password> called without any password configured for the default user. Are"
              + " you sure your configuration is correct?");
    }
    identify(call, password, count == 3 ? 1 : 0, count - 1);
    call.replies.ok();
  }

  /** Checks a password, and a user's name, if there is one. */
  private static void identify(Call call, @Nullable Password password, int user, int given) {
    Request request = call.request;
    boolean isUser = user == 0 || request.text(user).equals("default");
    boolean isRight =
        password == null
            || password.is(request.bytes(), request.start(given), request.length(given));
    if (!isUser || !isRight) {
      throw new Refusal("WRONGPASS invalid username-password pair or user is disabled.");
    }
    call.client.isStranger = false;
  }

  private static void hello(Call call) {
    Request request = call.request;
    boolean isResp3 = request.count() > 1 ? isResp3(request) : call.client.isResp3;
    String name = null;
    for (int i = 2; i < request.count(); i++) {
      if (request.is(i, "AUTH") && i + 2 < request.count()) {
        identify(call, call.door.password(), i + 1, i + 2);
        i += 2;
      } else if (request.is(i, "SETNAME") && i + 1 < request.count()) {
        name = checkedName(request.text(++i), "Client names");
      } else {
        throw new Refusal("ERR Syntax error in HELLO option '" + request.shown(i) + "'");
      }
    }
    if (call.client.isStranger) {
      throw new Refusal(
          "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO"
              + " <proto> AUTH <user> <pass> option can be used to authenticate the client and"
              + " select the RESP protocol version at the same time");
    }
    if (name != null) {
      call.client.name = name;
    }
    call.client.isResp3 = isResp3;
    Replies replies = call.replies;
    replies.speak(isResp3);
    replies.map(7);
    replies.bulk("server");
    replies.bulk("pando");
    replies.bulk("version");
    replies.bulk(REDIS_VERSION);
    replies.bulk("proto");
    replies.integer(isResp3 ? 3 : 2);
    replies.bulk("id");
    replies.integer(call.client.id);
    replies.bulk("mode");
    replies.bulk("standalone");
    replies.bulk("role");
    replies.bulk("master");
    replies.bulk("modules");
    replies.array(0);
  }

  private static boolean isResp3(Request request) {
    long protocol;
    try {
      protocol = request.integer(1);
    } catch (Refusal e) {
      throw new Refusal("ERR Protocol version is not an integer or out of range");
    }
    if (protocol != 2 && protocol != 3) {
      throw new Refusal("NOPROTO unsupported protocol version");
    }
    return protocol == 3;
  }

  private static String checkedName(String name, String what) {
    if (name.length() > NAME_BYTES_MAX) {
      throw new Refusal(
          "ERR %s are too long: bytes=%s, maximum=%s"
              .formatted(what, name.length(), NAME_BYTES_MAX));
    }
    if (!name.matches("[!-~]*")) {
      throw new Refusal("ERR " + what + " cannot contain spaces, newlines or special characters.");
    }
    return name;
  }

  private static void select(Call call) {
    long database = call.request.integer(1);
    if (database < Integer.MIN_VALUE || database > Integer.MAX_VALUE) {
      throw new Refusal(
          "ERR value is out of range, value must between %s and %s"
              .formatted(Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
    if (database < 0 || database >= call.keyspace.databases()) {
      throw new Refusal("ERR DB index is out of range");
    }
    call.client.database = (int) database;
    call.replies.ok();
  }

  private static void quit(Call call) {
    call.client.quits = true;
    call.replies.ok();
  }

  private static void reset(Call call) {
    call.client.reset();
    call.replies.simple("RESET");
  }

  private static void client(Call call) {
    String name = call.request.text(1).toUpperCase(Locale.ROOT);
    int count = call.request.count();
    switch (name) {
      case "SETNAME" -> {
        checkArity("client|setname", count, 3);
        call.client.name = checkedName(call.request.text(2), "Client names");
        call.replies.ok();
      }
      case "GETNAME" -> {
        checkArity("client|getname", count, 2);
        if (call.client.name.isEmpty()) {
          call.replies.nil();
        } else {
          call.replies.bulk(call.client.name);
        }
      }
      case "SETINFO" -> {
        checkArity("client|setinfo", count, 4);
        setInfo(call);
      }
      case "ID" -> {
        checkArity("client|id", count, 2);
        call.replies.integer(call.client.id);
      }
      case "LIST" -> {
        checkArity("client|list", count, 2);
        StringBuilder lines = new StringBuilder();
        call.door.clients().all().forEach(client -> lines.append(client.line()));
        call.replies.text(lines.toString());
      }
      default -> throw unknownSubcommand(call);
    }
  }

  private static void setInfo(Call call) {
    String value = call.request.text(3);
    if (call.request.is(2, "LIB-NAME")) {
      call.client.library = checkedName(value, "lib-name");
    } else if (call.request.is(2, "LIB-VER")) {
      call.client.libraryVersion = checkedName(value, "lib-ver");
    } else {
      throw new Refusal("ERR Unrecognized option '" + call.request.shown(2) + "'");
    }
    call.replies.ok();
  }

  private static void checkArity(String name, int count, int wanted) {
    if (count != wanted) {
      throw Refusal.wrongArguments(name);
    }
  }

  private static Refusal unknownSubcommand(Call call) {
    return new Refusal(
        "ERR unknown subcommand '"
            + call.request.shown(1)
            + "'. Try "
            + call.request.text(0).toUpperCase(Locale.ROOT)
            + " HELP.");
  }

  /** Clients that ask for what commands there are do without an answer. */
  private static void command(Call call) {
    if (call.request.count() == 1) {
      call.replies.array(0);
    } else if (call.request.is(1, "DOCS")) {
      call.replies.map(0);
    } else if (call.request.is(1, "COUNT")) {
      checkArity("command|count", call.request.count(), 2);
      call.replies.integer(call.door.commands().size());
    } else {
      throw unknownSubcommand(call);
    }
  }

  private static void config(Call call) {
    if (!call.request.is(1, "GET")) {
      throw unknownSubcommand(call);
    }
    if (call.request.count() < 3) {
      throw Refusal.wrongArguments("config|get");
    }
    Map<String, String> found = new TreeMap<>();
    for (int i = 2; i < call.request.count(); i++) {
      Glob pattern = new Glob(call.request.text(i).toLowerCase(Locale.ROOT).getBytes(ISO_8859_1));
      CONFIGURATION.forEach((name, value) -> {
        if (pattern.matchesAny(name.getBytes(ISO_8859_1))) {
          found.put(name, value);
        }
      });
    }
    call.replies.map(found.size());
    found.forEach((name, value) -> {
      call.replies.bulk(name);
      call.replies.bulk(value);
    });
  }

  private static void time(Call call) {
    Instant now = Instant.now();
    call.replies.array(2);
    call.replies.bulk(Long.toString(now.getEpochSecond()));
    call.replies.bulk(Integer.toString(now.getNano() / 1000));
  }

  private static void info(Call call) {
    Map<String, String> sections = sections(call);
    List<String> wanted = new ArrayList<>();
    for (int i = 1; i < call.request.count(); i++) {
      String name = call.request.text(i).toLowerCase(Locale.ROOT);
      wanted.addAll(
          List.of("all", "default", "everything").contains(name)
              ? sections.keySet()
              : List.of(name));
    }
    StringBuilder text = new StringBuilder();
    sections.forEach((name, lines) -> {
      if (wanted.isEmpty() || wanted.contains(name)) {
        text.append(text.isEmpty() ? "" : "\r\n");
        text.append("# ").append(Character.toUpperCase(name.charAt(0))).append(name.substring(1));
        text.append("\r\n").append(lines.replace("\n", "\r\n"));
      }
    });
    call.replies.text(text.toString());
  }

  private static Map<String, String> sections(Call call) {
    Door door = call.door;
    Map<String, String> sections = new LinkedHashMap<>();
    sections.put(
        "server",
        """
        redis_version:%s
        redis_mode:standalone
        pando_version:%s
        process_id:%d
        tcp_port:%d
        uptime_in_seconds:%d
        """
            .formatted(
                REDIS_VERSION,
                VERSION,
                ProcessHandle.current().pid(),
                door.port(),
                door.upSeconds()));
    sections.put(
        "clients",
        """
        connected_clients:%d
        maxclients:%d
        """
            .formatted(door.clients().count(), door.clients().most()));
    sections.put(
        "memory",
        """
        used_memory:%d
        %spando_waiting_bytes:%d
        """
            .formatted(
                Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory(),
                sizes(door.keyspace()),
                door.waiting().bytes()));
    sections.put(
        "stats",
        """
        total_connections_received:%d
        total_commands_processed:%d
        rejected_connections:%d
        """
            .formatted(door.clients().came(), door.served(), door.clients().refused()));
    sections.put(
        "replication",
        """
        role:master
        connected_slaves:0
        """);
    sections.put("keyspace", keyspace(door.keyspace()));
    return sections;
  }

  private static String sizes(Keyspace keyspace) {
    StringBuilder lines = new StringBuilder();
    keyspace
        .sizes()
        .forEach((name, number) ->
            lines.append("pando_%s:%d\n".formatted(name.replace('.', '_'), number)));
    return lines.toString();
  }

  private static String keyspace(Keyspace keyspace) {
    StringBuilder lines = new StringBuilder();
    long[] counts = keyspace.counts();
    for (int database = 0; database < counts.length; database++) {
      if (counts[database] > 0) {
        lines.append("db%d:keys=%d,expires=0,avg_ttl=0\n".formatted(database, counts[database]));
      }
    }
    return lines.toString();
  }
}
