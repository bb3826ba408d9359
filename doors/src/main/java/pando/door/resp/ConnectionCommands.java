package pando.door.resp;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.door.resp.Command.When;

/** Commands on the connection. */
final class ConnectionCommands {
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
        new Command("RESET", 1, ALWAYS, ConnectionCommands::reset));
  }

  private static void reply(RespCall call, int i) {
    call.replies.bulk(call.request.bytes(), call.request.start(i), call.request.length(i));
  }

  private static void ping(RespCall call) {
    switch (call.request.count()) {
      case 1 -> call.replies.simple("PONG");
      case 2 -> reply(call, 1);
      default -> throw Refusal.wrongArguments("ping");
    }
  }

  private static void auth(RespCall call) {
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
  private static void identify(RespCall call, @Nullable Password password, int user, int given) {
    RespRequest request = call.request;
    boolean isUser = user == 0 || request.text(user).equals("default");
    boolean isRight =
        password == null
            || password.is(request.bytes(), request.start(given), request.length(given));
    if (!isUser || !isRight) {
      throw new Refusal("WRONGPASS invalid username-password pair or user is disabled.");
    }
    call.client.isStranger = false;
  }

  private static void hello(RespCall call) {
    RespRequest request = call.request;
    boolean isResp3 = request.count() > 1 ? isResp3(request) : call.client.isResp3;
    String name = null;
    for (int i = 2; i < request.count(); i++) {
      if (request.is(i, "AUTH") && i + 2 < request.count()) {
        identify(call, call.door.password(), i + 1, i + 2);
        i += 2;
      } else if (request.is(i, "SETNAME") && i + 1 < request.count()) {
        name = ClientCommands.checkedName(request.text(++i), "Client names");
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
    replies.bulk(ServerCommands.REDIS_VERSION);
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

  private static boolean isResp3(RespRequest request) {
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

  private static void select(RespCall call) {
    call.client.database = call.database(1);
    call.replies.ok();
  }

  private static void quit(RespCall call) {
    call.client.quits = true;
    call.replies.ok();
  }

  private static void reset(RespCall call) {
    call.client.reset();
    call.replies.simple("RESET");
  }
}
