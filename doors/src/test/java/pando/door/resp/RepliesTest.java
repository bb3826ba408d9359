package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import pando.door.resp.ReplyBlocks.Block;

/** Replies in several blocks, against one string. */
class RepliesTest {
  @Test
  void shouldHoldRepliesOfAnyLength() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Replies replies = new Replies(new ReplyBlocks());
    for (int round = 0; round < 100; round++) {
      StringBuilder model = new StringBuilder();
      for (int i = random.nextInt(30); i > 0; i--) {
        add(replies, model, random);
        assertThat(replies.size()).as("seed=%s", seed).isEqualTo(model.length());
      }
      if (random.nextInt(4) == 0) {
        replies.clear();
      } else {
        List<Block> blocks = new ArrayList<>();
        replies.moveTo(blocks);
        assertThat(text(blocks)).as("seed=%s", seed).isEqualTo(model.toString());
        replies.moveFrom(blocks);
        assertThat(replies.size()).isEqualTo(model.length());
        assertThat(replies.blocks()).isEqualTo(blocks.size());
        blocks.clear();
        replies.moveTo(blocks);
        assertThat(text(blocks)).as("seed=%s", seed).isEqualTo(model.toString());
      }
      assertThat(replies.size()).isZero();
    }
  }

  private static void add(Replies replies, StringBuilder model, Random random) {
    int before = model.length();
    replies.begin(false);
    int elements = random.nextInt(20);
    for (int i = 0; i < elements; i++) {
      String text =
          "x".repeat(random.nextInt(10) == 0 ? random.nextInt(300_000) : random.nextInt(20));
      if (random.nextBoolean()) {
        replies.bulk(text);
      } else {
        replies.bulkBehind(MemorySegment.ofArray(("ab" + text).getBytes(ISO_8859_1)), 2);
      }
      model.append("$" + text.length() + "\r\n" + text + "\r\n");
    }
    switch (random.nextInt(4)) {
      case 0 -> {
        replies.cut();
        model.setLength(before);
      }
      case 1 -> {
        replies.error("ERR");
        model.setLength(before);
        model.append("-ERR\r\n");
      }
      case 2 -> {
        replies.arrayBefore(elements);
        replies.insertBefore("*2\r\n:1\r\n");
        model.insert(before, "*2\r\n:1\r\n*" + elements + "\r\n");
      }
      default -> {}
    }
  }

  private static String text(List<Block> blocks) {
    StringBuilder text = new StringBuilder();
    blocks.forEach(block -> text.append(new String(block.bytes, 0, block.size, ISO_8859_1)));
    return text.toString();
  }

  @Test
  void shouldRefuseRepliesThatAreTooLarge() {
    Replies replies = new Replies(new ReplyBlocks());
    byte[] part = new byte[Replies.BYTES_MAX / 4];
    replies.begin(false);
    replies.integer(1);
    replies.begin(false);
    for (int i = 0; i < 3; i++) {
      replies.bulk(part);
    }
    assertThatExceptionOfType(Refusal.class).isThrownBy(() -> replies.bulk(part));
    replies.error("ERR large");
    assertThat(new String(replies.bytes(), 0, replies.size(), ISO_8859_1))
        .isEqualTo(":1\r\n-ERR large\r\n");
    assertThat(replies.blocks()).isEqualTo(1);
  }
}
