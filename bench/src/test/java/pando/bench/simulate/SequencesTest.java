package pando.bench.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import pando.bench.records.Records;
import pando.bench.workload.Inserts;
import pando.bench.workload.Values;
import pando.cli.WrongResultException;

class SequencesTest {
  private static final Records RECORDS = new Records(5);
  private static final long RECORD = 3;
  private static final long KEY = RECORDS.key(RECORD);

  private Sequences sequences = of(Values.CHANGING);

  private static Sequences of(Values values) {
    return new Sequences(RECORDS, 10, new Inserts(10, 3, 0, 3), 3, values);
  }

  private void assertFinds(int sequence, int least) {
    assertThatCode(() -> sequences.check(KEY, Records.value(KEY, sequence), least))
        .doesNotThrowAnyException();
  }

  private void assertRefuses(int sequence, int least) {
    assertThatExceptionOfType(WrongResultException.class)
        .isThrownBy(() -> sequences.check(KEY, Records.value(KEY, sequence), least))
        .withMessageContaining("sequence=" + sequence)
        .withMessageContaining("seed=5");
  }

  @Test
  void shouldFindTheOldAndTheNewValueWhileAnUpdateIsUnderWay() {
    assertThat(sequences.beginUpdate(0, RECORD)).isEqualTo(1);
    int least = sequences.least(RECORD);
    sequences.endUpdate(0);
    assertFinds(0, least);
    assertFinds(1, least);
    assertRefuses(2, least);
  }

  @Test
  void shouldRefuseAValueThatWasReplacedBeforeTheReadBegan() {
    sequences.beginUpdate(0, RECORD);
    sequences.endUpdate(0);
    sequences.beginUpdate(1, RECORD);
    sequences.endUpdate(1);
    int least = sequences.least(RECORD);
    assertRefuses(0, least);
    assertRefuses(1, least);
    assertFinds(2, least);
  }

  @Test
  void shouldFindWhatAnOlderUpdateMayHaveStoredLast() {
    sequences.beginUpdate(0, RECORD);
    sequences.beginUpdate(1, RECORD);
    sequences.endUpdate(1);
    assertRefuses(0, sequences.least(RECORD));
    assertFinds(1, sequences.least(RECORD));
    sequences.endUpdate(0);
    assertFinds(1, sequences.least(RECORD));
    assertFinds(2, sequences.least(RECORD));
    sequences.beginUpdate(2, RECORD);
    sequences.endUpdate(2);
    assertRefuses(2, sequences.least(RECORD));
    assertFinds(3, sequences.least(RECORD));
  }

  @Test
  void shouldFindTheSameValueAfterEachUpdate() {
    sequences = of(Values.SAME);
    assertFinds(0, sequences.least(RECORD));
    assertThat(sequences.beginUpdate(0, RECORD)).isEqualTo(1);
    sequences.endUpdate(0);
    assertThat(sequences.beginUpdate(0, RECORD)).isEqualTo(1);
    sequences.endUpdate(0);
    assertRefuses(0, sequences.least(RECORD));
    assertFinds(1, sequences.least(RECORD));
    assertRefuses(2, sequences.least(RECORD));
  }

  @Test
  void shouldTellRecordsApart() {
    sequences.beginUpdate(0, RECORD + 1);
    sequences.beginUpdate(1, RECORD);
    sequences.endUpdate(1);
    assertThat(sequences.least(RECORD)).isEqualTo(1);
    assertThat(sequences.least(RECORD + 1)).isZero();
  }

  @Test
  void shouldRefuseWhatNobodyStored() {
    long absent = RECORDS.key(11);
    assertThatExceptionOfType(WrongResultException.class)
        .isThrownBy(() -> sequences.check(absent, Records.value(absent, 0), 0));
    assertThatExceptionOfType(WrongResultException.class)
        .isThrownBy(() -> sequences.check(KEY, 77, 0));
  }
}
