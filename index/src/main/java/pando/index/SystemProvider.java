package pando.index;

import java.util.List;

/** A module that has systems; {@link Systems} finds it by {@link java.util.ServiceLoader}. */
public interface SystemProvider {
  /** Returns its systems, in the order in which they are listed. */
  List<IndexSystem> systems();
}
