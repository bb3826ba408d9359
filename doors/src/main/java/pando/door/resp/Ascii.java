package pando.door.resp;

/** Numbers and words as ASCII. */
final class Ascii {
  /** Greatest number of bytes of a whole number. */
  static final int INTEGER_BYTES_MAX = 20;

  private Ascii() {}

  /** Returns a letter as a capital, any other byte as it is. */
  static int upper(byte letter) {
    return letter >= 'a' && letter <= 'z' ? letter - ('a' - 'A') : letter;
  }

  /**
   * Reads a whole number of 64 bits as Redis does: no sign but a minus, no zeros in front.
   *
   * @throws Refusal if it is none
   */
  static long integer(byte[] bytes, int start, int length) {
    boolean minus = length > 0 && bytes[start] == '-';
    int at = minus ? start + 1 : start;
    int end = start + length;
    if (at == end || length > INTEGER_BYTES_MAX) {
      throw Refusal.notAnInteger();
    }
    if (bytes[at] == '0') {
      if (length == 1) {
        return 0;
      }
      throw Refusal.notAnInteger();
    }
    long number = 0; // negative, which has one number more
    for (; at < end; at++) {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9 || number < (Long.MIN_VALUE + digit) / 10) {
        throw Refusal.notAnInteger();
      }
      number = number * 10 - digit;
    }
    if (!minus && number == Long.MIN_VALUE) {
      throw Refusal.notAnInteger();
    }
    return minus ? number : -number;
  }

  /** Writes a whole number; returns where it ends. */
  static int put(byte[] bytes, int start, long number) {
    int at = start;
    if (number < 0) {
      bytes[at++] = '-';
    }
    int digits = 1;
    for (long rest = number / 10; rest != 0; rest /= 10) {
      digits++;
    }
    int end = at + digits;
    long rest = number;
    for (int i = end - 1; i >= at; i--) {
      bytes[i] = (byte) ('0' + Math.abs((int) (rest % 10)));
      rest /= 10;
    }
    return end;
  }
}
