package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.module.ModuleDescriptor;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.journal.DataFolder;

/** Commands on the server. */
final class ServerCommands {
  /** What some clients ask for before they believe that the server has a command. */
  static final String REDIS_VERSION = "7.0.0";

  static final String VERSION = version();

  private static final String GROVE =
      """
             ,@@@,     @@@      ,@@@,
           @@@@@@@@@  @@@@@   @@@@@@@@@
            '@@|@@'  @@@|@@@   '@@|@@'
               |       '|'        |
      _________|________|_________|_________
                 \\______|______/
      """;

  private ServerCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("COMMAND", -1, ServerCommands::command),
        new Command("CONFIG", -2, ServerCommands::config),
        new Command("INFO", -1, call -> call.replies.text(new ServerInfo(call).text())),
        new Command("LOLWUT", -1, ServerCommands::lolWut),
        new Command("TIME", 1, ServerCommands::time));
  }

  private static String version() {
    ModuleDescriptor module = ServerCommands.class.getModule().getDescriptor();
    return module == null ? "unknown" : module.rawVersion().orElse("unknown");
  }

  private static void command(RespCall call) {
    RespRequest request = call.request;
    CommandTable commands = call.door.commands();
    String word = request.count() == 1 ? "INFO" : request.text(1).toUpperCase(Locale.ROOT);
    switch (word) {
      case "INFO" -> {
        List<String> names =
            request.count() < 3
                ? commands.names()
                : Stream.iterate(2, i -> i < request.count(), i -> i + 1)
                    .map(i -> request.text(i).toUpperCase(Locale.ROOT))
                    .toList();
        call.replies.array(names.size());
        names.forEach(name -> describe(call.replies, commands, name));
      }
      case "LIST" -> list(call, commands.names());
      case "DOCS" -> call.replies.map(0); // clients do without
      case "COUNT" -> {
        RespCall.checkArity("command|count", request.count(), 2);
        call.replies.integer(commands.size());
      }
      default ->
          throw call.unknownSubcommand(
              "COMMAND",
              "GETKEYS GETKEYSANDFLAGS HELP",
              "COMMAND INFO says which arguments are keys");
    }
  }

  private static void describe(Replies replies, CommandTable commands, String name) {
    @Nullable Command command = commands.named(name);
    if (command == null) {
      replies.nil();
      return;
    }
    @Nullable CommandKeys keys = CommandKeys.of(name);
    replies.array(10);
    replies.bulk(name.toLowerCase(Locale.ROOT));
    replies.integer(command.arity());
    replies.set(keys == null ? 0 : 1);
    if (keys != null) {
      replies.simple(keys.isWrite() ? "write" : "readonly");
    }
    replies.integer(keys == null ? 0 : keys.first());
    replies.integer(keys == null ? 0 : keys.last());
    replies.integer(keys == null ? 0 : keys.step());
    replies.set(0); // categories of access, hints, other ways to find keys, second words
    replies.set(0);
    replies.set(0);
    replies.array(0);
  }

  private static void list(RespCall call, List<String> names) {
    RespRequest request = call.request;
    List<String> listed = names.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    if (request.count() == 5 && request.is(2, "FILTERBY") && request.is(3, "PATTERN")) {
      Glob pattern = new Glob(request.text(4).toLowerCase(Locale.ROOT).getBytes(ISO_8859_1));
      listed =
          listed.stream().filter(name -> pattern.matchesAny(name.getBytes(ISO_8859_1))).toList();
    } else if (request.count() == 5 && request.is(2, "FILTERBY")) {
      if (!request.is(3, "MODULE") && !request.is(3, "ACLCAT")) {
        throw Refusal.syntax();
      }
      listed = List.of(); // there are neither
    } else if (request.count() != 2) {
      throw Refusal.syntax();
    }
    call.replies.array(listed.size());
    listed.forEach(call.replies::bulk);
  }

  private static void config(RespCall call) {
    RespRequest request = call.request;
    if (!request.is(1, "GET")) {
      throw call.unknownSubcommand(
          "CONFIG", "SET RESETSTAT REWRITE HELP", "a door is configured as it is opened");
    }
    if (request.count() < 3) {
      throw Refusal.wrongArguments("config|get");
    }
    Map<String, String> all = configuration(call.door);
    Map<String, String> found = new TreeMap<>();
    for (int i = 2; i < request.count(); i++) {
      Glob pattern = new Glob(request.text(i).toLowerCase(Locale.ROOT).getBytes(ISO_8859_1));
      all.forEach((name, value) -> {
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

  private static Map<String, String> configuration(Door door) {
    Map<String, String> all =
        new HashMap<>(
            Map.of(
                "save", "",
                "appendonly", "no",
                "maxmemory", "0",
                "maxmemory-policy", "noeviction",
                "timeout", "0",
                "databases", Integer.toString(door.keyspace().databases()),
                "maxclients", Integer.toString(door.clients().most()),
                "port", Integer.toString(door.port())));
    DataFolder folder = door.folder();
    if (folder != null) {
      all.put("appendonly", "yes");
      all.put("appendfsync", folder.log().sync().toString());
      all.put("dir", folder.toString());
    }
    return all;
  }

  private static void time(RespCall call) {
    Instant now = Instant.now();
    call.replies.array(2);
    call.replies.bulk(Long.toString(now.getEpochSecond()));
    call.replies.bulk(Integer.toString(now.getNano() / 1000));
  }

  private static void lolWut(RespCall call) {
    call.replies.text(GROVE + "\nOne root, many trunks: Pando ver. " + VERSION + "\n");
  }
}
