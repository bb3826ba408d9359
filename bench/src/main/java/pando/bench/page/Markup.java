package pando.bench.page;

import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** HTML or SVG that is being written, well-formed as XML. All text is escaped. */
final class Markup {
  private final StringWriter written = new StringWriter();
  private final XMLStreamWriter xml;

  /**
   * Begins a document.
   *
   * @param start what stands before the first element; may be empty
   */
  Markup(String start) {
    written.append(start);
    try {
      xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(written);
    } catch (XMLStreamException e) {
      throw new IllegalStateException("no writer of XML", e);
    }
  }

  /** A call of the writer of XML, which fails only where elements are not closed as opened. */
  @FunctionalInterface
  private interface Step {
    void run() throws XMLStreamException;
  }

  private Markup run(Step step) {
    try {
      step.run();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("elements are not nested", e);
    }
    return this;
  }

  /** Opens an element. */
  Markup open(String name, Object... attributes) {
    run(() -> xml.writeStartElement(name));
    return attributes(attributes);
  }

  /** Closes the element that was opened last. */
  Markup close() {
    return run(xml::writeEndElement);
  }

  /** Writes an element without content that has no end tag. */
  Markup empty(String name, Object... attributes) {
    run(() -> xml.writeEmptyElement(name));
    return attributes(attributes);
  }

  /** Writes an element with a text in it. */
  Markup element(String name, String text, Object... attributes) {
    return open(name, attributes).text(text).close();
  }

  Markup text(String text) {
    return run(() -> xml.writeCharacters(text));
  }

  /** Ends the line, so that the document can be read and compared by lines. */
  Markup line() {
    return text("\n");
  }

  /** Writes names and values by turns; numbers with one decimal at the most. */
  private Markup attributes(Object... attributes) {
    for (int i = 0; i < attributes.length; i += 2) {
      String name = (String) attributes[i];
      String value =
          attributes[i + 1] instanceof Double number
              ? decimal(number)
              : attributes[i + 1].toString();
      run(() -> xml.writeAttribute(name, value));
    }
    return this;
  }

  /** Returns a number with one decimal at the most. */
  static String decimal(double number) {
    BigDecimal rounded = BigDecimal.valueOf(number).setScale(1, RoundingMode.HALF_UP);
    return rounded.stripTrailingZeros().toPlainString();
  }

  /** Returns what was written. */
  @Override
  public String toString() {
    run(xml::flush);
    return written.toString();
  }
}
