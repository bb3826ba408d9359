package pando.cli.option;

import java.util.List;
import java.util.function.Function;
import pando.index.settings.DidYouMean;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Converts a name to one of several values.
 *
 * @param <T> type of the values
 */
public class NameConverter<T> implements ITypeConverter<T> {
  private final List<T> things;
  private final Function<T, String> name;

  /** Creates a converter whose names are the values' texts. */
  public NameConverter(T[] things) {
    this(List.of(things), String::valueOf);
  }

  public NameConverter(List<T> things, Function<T, String> name) {
    this.things = things;
    this.name = name;
  }

  @Override
  public T convert(String text) {
    for (T thing : things) {
      if (name.apply(thing).equals(text)) {
        return thing;
      }
    }
    List<String> known = things.stream().map(name).toList();
    throw new TypeConversionException(
        "'%s' is not one of %s%s"
            .formatted(text, String.join(", ", known), DidYouMean.suggest(text, known)));
  }
}
