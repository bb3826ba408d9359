package pando.door.resp;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;

/** {@code CLIENT}: what a client says about itself, and what it may know of others. */
final class ClientCommands {
  private static final String REFUSED =
      "CACHING GETREDIR NO-TOUCH PAUSE REPLY TRACKING TRACKINGINFO UNBLOCK UNPAUSE HELP";

  /** Greatest length of a name that a client gives itself or its library. */
  private static final int NAME_BYTES_MAX = 256;

  /** Types of clients that there are none of. */
  private static final List<String> OTHER_TYPES = List.of("MASTER", "REPLICA", "SLAVE", "PUBSUB");

  private ClientCommands() {}

  static List<Command> all() {
    return List.of(new Command("CLIENT", -2, ClientCommands::client));
  }

  private static void client(RespCall call) {
    String name = call.request.text(1).toUpperCase(Locale.ROOT);
    int count = call.request.count();
    call.client.lastCommand = "client|" + name.toLowerCase(Locale.ROOT);
    switch (name) {
      case "SETNAME" -> {
        RespCall.checkArity("client|setname", count, 3);
        call.client.name = checkedName(call.request.text(2), "Client names");
        call.replies.ok();
      }
      case "GETNAME" -> {
        RespCall.checkArity("client|getname", count, 2);
        if (call.client.name.isEmpty()) {
          call.replies.nil();
        } else {
          call.replies.bulk(call.client.name);
        }
      }
      case "SETINFO" -> {
        RespCall.checkArity("client|setinfo", count, 4);
        setInfo(call);
      }
      case "ID" -> {
        RespCall.checkArity("client|id", count, 2);
        call.replies.integer(call.client.id);
      }
      case "LIST" -> list(call);
      case "INFO" -> {
        RespCall.checkArity("client|info", count, 2);
        call.replies.text(call.client.line());
      }
      case "KILL" -> kill(call);
      case "NO-EVICT" -> { // no client is ended before others for what it takes
        RespCall.checkArity("client|no-evict", count, 3);
        if (!call.request.is(2, "ON") && !call.request.is(2, "OFF")) {
          throw Refusal.syntax();
        }
        call.replies.ok();
      }
      default ->
          throw call.unknownSubcommand(
              "CLIENT", REFUSED, "each request has a reply, and there are no messages");
    }
  }

  static String checkedName(String name, String what) {
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

  private static void setInfo(RespCall call) {
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

  private static void list(RespCall call) {
    RespRequest request = call.request;
    int count = request.count();
    Predicate<RespClient> listed;
    if (count == 2) {
      listed = _ -> true;
    } else if (count == 4 && request.is(2, "TYPE")) {
      listed = ofType(request, 3);
    } else if (count > 3 && request.is(2, "ID")) {
      Set<Long> ids = new HashSet<>();
      for (int i = 3; i < count; i++) {
        ids.add(id(request, i, "ERR Invalid client ID"));
      }
      listed = client -> ids.contains(client.id);
    } else {
      throw Refusal.syntax();
    }
    StringBuilder lines = new StringBuilder();
    call.door.clients().all().stream()
        .filter(listed)
        .forEach(client -> lines.append(client.line()));
    call.replies.text(lines.toString());
  }

  private static Predicate<RespClient> ofType(RespRequest request, int i) {
    boolean isNormal = request.is(i, "NORMAL");
    if (!isNormal && OTHER_TYPES.stream().noneMatch(type -> request.is(i, type))) {
      throw new Refusal("ERR Unknown client type '" + request.shown(i) + "'");
    }
    return _ -> isNormal;
  }

  private static long id(RespRequest request, int i, String otherwise) {
    try {
      return request.integer(i);
    } catch (Refusal e) {
      throw new Refusal(otherwise);
    }
  }

  private static void kill(RespCall call) {
    RespRequest request = call.request;
    if (request.count() < 3) {
      throw Refusal.wrongArguments("client|kill");
    }
    if (request.count() == 3) {
      if (end(call, hasAddress(request.text(2)), false) == 0) {
        throw new Refusal("ERR No such client");
      }
      call.replies.ok();
      return;
    }
    Predicate<RespClient> chosen = _ -> true;
    boolean skipMe = true;
    for (int i = 2; i < request.count(); i += 2) {
      if (i + 1 == request.count()) {
        throw Refusal.syntax();
      }
      if (request.is(i, "SKIPME")) {
        skipMe = request.is(i + 1, "YES");
        if (!skipMe && !request.is(i + 1, "NO")) {
          throw Refusal.syntax();
        }
      } else {
        chosen = chosen.and(filter(request, i));
      }
    }
    call.replies.integer(end(call, chosen, skipMe));
  }

  private static Predicate<RespClient> filter(RespRequest request, int i) {
    String value = request.text(i + 1);
    if (request.is(i, "ID")) {
      String otherwise = "ERR client-id should be greater than 0";
      long id = id(request, i + 1, otherwise);
      if (id < 1) {
        throw new Refusal(otherwise);
      }
      return client -> client.id == id;
    }
    if (request.is(i, "TYPE")) {
      return ofType(request, i + 1);
    }
    if (request.is(i, "ADDR")) {
      return hasAddress(value);
    }
    if (request.is(i, "LADDR")) {
      return client -> AddressText.text(client.local).equals(value);
    }
    if (request.is(i, "USER")) {
      if (!value.equals("default")) {
        throw new Refusal("ERR No such user '" + request.shown(i + 1) + "'");
      }
      return _ -> true;
    }
    throw Refusal.syntax();
  }

  private static Predicate<RespClient> hasAddress(String address) {
    return client -> AddressText.text(client.address).equals(address);
  }

  /** Ends clients, that of the call behind its reply; returns how many. */
  private static int end(RespCall call, Predicate<RespClient> chosen, boolean skipMe) {
    List<RespClient> ended = new ArrayList<>(call.door.clients().all());
    ended.removeIf(client -> (skipMe && client.id == call.client.id) || !chosen.test(client));
    for (RespClient client : ended) {
      if (client.id == call.client.id) {
        client.quits = true;
      } else {
        call.door.clients().end(client);
      }
    }
    return ended.size();
  }
}
