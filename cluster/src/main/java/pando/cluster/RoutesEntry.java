package pando.cluster;

import java.util.ArrayList;
import java.util.List;
import pando.client.Routes;
import pando.index.Partitioning;

/** {@link Routes} as the coordinator keeps them: a copy of the pool's table, which may be old. */
final class RoutesEntry {
  static final char KIND = 'r';

  private RoutesEntry() {}

  /** Returns the routes of a partition table; those of compute servers that are gone are empty. */
  static Routes of(Partitioning table, List<Member> members) {
    return Routes.of(
        table,
        owner ->
            members.stream()
                .filter(member -> member.number() == owner)
                .map(Member::address)
                .findFirst());
  }

  static byte[] encode(Routes routes) {
    EntryWriter writer = new EntryWriter(KIND).word(routes.epoch()).number(routes.routes().size());
    routes
        .routes()
        .forEach(route -> writer.word(route.low()).number(route.owner()).text(route.address()));
    return writer.bytes();
  }

  static Routes decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader -> {
          long epoch = reader.word();
          List<Routes.Route> routes = new ArrayList<>();
          for (int left = reader.number(1, Routes.ROUTES_MAX); left > 0; left--) {
            routes.add(
                new Routes.Route(
                    reader.word(), reader.number(0, Member.NUMBER_MAX), reader.text()));
          }
          return new Routes(epoch, true, routes);
        });
  }
}
