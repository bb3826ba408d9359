package pando.cluster;

/** How far a server is. */
public enum ServerState {
  /** It starts. */
  JOINING,
  /** It serves. */
  SERVING,
  /** It is gone, with what it had. */
  LOST,
  /** It was taken out, with nothing left behind. */
  LEFT
}
