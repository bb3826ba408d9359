package pando.fabric.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Access to fields by {@link VarHandle}s, for constants of the class that has the field. */
public final class Fields {
  private Fields() {}

  /**
   * Returns access to a field.
   *
   * @param lookup of the class that has the field, as {@link MethodHandles#lookup} returns it there
   * @throws ExceptionInInitializerError if the class has no such field
   */
  public static VarHandle handle(MethodHandles.Lookup lookup, String name, Class<?> type) {
    try {
      return lookup.findVarHandle(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
