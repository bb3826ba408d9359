package pando.door.resp;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.journal.DataFolder;

/** All commands of a door by their names, in capitals or not. Immutable. */
final class CommandTable {
  /** Slots for commands, most of them empty. */
  static final int SLOTS = 256;

  private final @Nullable Command[] slots = new Command[SLOTS];
  private final @Nullable CommandKeys[] keys = new CommandKeys[SLOTS];
  private final int size;

  /**
   * Makes the table of all commands.
   *
   * @param isOwn whether the door has the keys for itself: then there are sets and transactions
   * @param folder that has the log; {@code null} if there is none, and no command on it
   */
  CommandTable(boolean isOwn, @Nullable DataFolder folder) {
    List<Command> commands = new ArrayList<>();
    commands.addAll(ConnectionCommands.all());
    commands.addAll(ClientCommands.all());
    commands.addAll(ServerCommands.all());
    commands.addAll(isOwn ? TransactionCommands.all() : TransactionCommands.refused());
    commands.addAll(StringCommands.all());
    commands.addAll(MultiStringCommands.all());
    commands.addAll(KeyCommands.all());
    commands.addAll(ExpiryCommands.all());
    commands.addAll(isOwn ? SetCommands.all() : List.of());
    commands.addAll(folder == null ? List.of() : new FolderCommands(folder).all());
    commands.addAll(PandoCommands.all());
    commands.forEach(this::add);
    size = commands.size();
  }

  private void add(Command command) {
    int hash = 0;
    for (int i = 0; i < command.name().length(); i++) {
      hash = 31 * hash + command.name().charAt(i);
    }
    int slot = slot(hash);
    while (slots[slot] != null) {
      slot = (slot + 1) % SLOTS;
    }
    slots[slot] = command;
    keys[slot] = CommandKeys.of(command.name());
  }

  private static int slot(int hash) {
    return (hash * 0x9E3779B9) >>> (Integer.SIZE - Integer.numberOfTrailingZeros(SLOTS));
  }

  /** Returns the slot of a request's command, an empty one if there is no such command. */
  int find(RespRequest request) {
    byte[] bytes = request.bytes();
    int start = request.start(0);
    int end = start + request.length(0);
    int hash = 0;
    for (int i = start; i < end; i++) {
      hash = 31 * hash + Ascii.upper(bytes[i]);
    }
    int slot = slot(hash);
    while (true) {
      Command command = slots[slot];
      if (command == null || request.is(0, command.name())) {
        return slot;
      }
      slot = (slot + 1) % SLOTS;
    }
  }

  /** Returns the command in a slot, {@code null} if that is empty. */
  @Nullable Command at(int slot) {
    return slots[slot];
  }

  /** Returns which arguments of the command in a slot are keys, {@code null} if none are. */
  @Nullable CommandKeys keysAt(int slot) {
    return keys[slot];
  }

  /** Returns a command by its name in capitals, {@code null} if there is none. */
  @Nullable Command named(String name) {
    return Stream.of(slots)
        .filter(command -> command != null && command.name().equals(name))
        .findFirst()
        .orElse(null);
  }

  /** Returns the names of all commands, in order. */
  List<String> names() {
    return Stream.of(slots).filter(Objects::nonNull).map(Command::name).sorted().toList();
  }

  int size() {
    return size;
  }
}
