package pando.durable;

/** Which key next to another one is looked for. */
enum Neighbour {
  FLOOR,
  CEILING,
  LOWER,
  HIGHER,
  FIRST,
  LAST
}
