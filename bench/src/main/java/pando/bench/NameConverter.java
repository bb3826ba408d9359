package pando.bench;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads constants of an enum by the names that they print as.
 *
 * @param <E> the enum
 */
class NameConverter<E extends Enum<E>> implements ITypeConverter<E> {
  private final E[] constants;

  NameConverter(Class<E> type) {
    constants = type.getEnumConstants();
  }

  @Override
  public E convert(String text) {
    for (E constant : constants) {
      if (constant.toString().equals(text)) {
        return constant;
      }
    }
    String known = Arrays.stream(constants).map(Enum::toString).collect(Collectors.joining(", "));
    throw new TypeConversionException("'" + text + "' is not one of " + known);
  }
}
