package pando.cluster;

/** How far a server is. */
public enum ServerState {
  /** It starts. */
  JOINING,
  /** It serves. */
  SERVING,
  /** It is gone, with what it had. */
  LOST
}
