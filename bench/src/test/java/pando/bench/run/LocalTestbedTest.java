package pando.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.bench.keys.KeySet;
import pando.bench.subject.Access;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.SkipListSubject;
import pando.bench.subject.Subject;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.cli.WrongResultException;
import pando.index.EntrySource;
import pando.index.EntryVisitor;
import pando.index.Systems;

@Timeout(300)
final class LocalTestbedTest {
  private static final Plan PLAN =
      new Plan(KeySet.UNIFORM, 5_000, 0.7, Distribution.ZIPFIAN, 0.99, 30_000, 1_000, 3, 0, 60, 17);

  @ParameterizedTest
  @EnumSource
  void shouldRunAndCheckEveryOperation(Workload workload) {
    try (LocalTestbed testbed = LocalTestbed.load(SkipListSubject.sorted(), PLAN)) {
      Measurement measured = testbed.run(workload);
      assertThat(measured.operations).isEqualTo(30_000);
      assertThat(measured.throughput).isPositive();
      assertThat(measured.latencyNanos(50)).isPositive();
      Audit audit = testbed.audit();
      audit.check(PLAN);
      assertThat(audit.inserted() > 0).isEqualTo(workload.inserts());
      switch (workload) {
        case INSERT_ONLY, STORE_ONLY, MULTI_PUT -> assertThat(measured.verified).isZero();
        case INSERT_INTENSIVE -> assertThat(measured.verified).isBetween(14_000L, 16_000L);
        case SCAN_UPDATE -> assertThat(measured.verified).isGreaterThan(30_000 * 45);
        case SCAN_INTENSIVE -> assertThat(measured.verified).isGreaterThan(30_000 * 80);
        case YCSB_E -> assertThat(measured.verified).isGreaterThan(30_000 * 40);
        case YCSB_F -> assertThat(measured.verified).isBetween(44_000L, 46_000L);
        case READ_INTENSIVE_2, YCSB_D -> assertThat(measured.verified).isBetween(28_000L, 29_000L);
        default -> assertThat(measured.verified).isEqualTo(30_000);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"READ_ONLY", "WRITE_INTENSIVE", "INSERT_INTENSIVE", "SCAN_INTENSIVE"})
  void shouldRunClientsInLanes(Workload workload) {
    Plan plan =
        new Plan(
            KeySet.UNIFORM, 5_000, 0.7, Distribution.ZIPFIAN, 0.99, 30_000, 1_000, 10, 2, 60, 17);
    IndexSubject subject =
        IndexSubject.openLocal(Systems.named("dex").defaults(), 2, 64 << 20, plan.seed());
    try (LocalTestbed testbed = LocalTestbed.load(subject, plan)) {
      Measurement measured = testbed.run(workload);
      assertThat(measured.operations).isEqualTo(30_000);
      assertThat(measured.throughput).isPositive();
      testbed.audit().check(plan);
    }
  }

  @Test
  void shouldRunWorkloadsOneAfterTheOther() {
    try (LocalTestbed testbed = LocalTestbed.load(SkipListSubject.sorted(), PLAN)) {
      testbed.run(Workload.WRITE_INTENSIVE);
      testbed.run(Workload.READ_INTENSIVE);
      testbed.run(Workload.SCAN_INTENSIVE);
      testbed.audit().check(PLAN);
    }
  }

  @Test
  void shouldEndEarlyWhenTheTimeIsUp() {
    Plan brief =
        new Plan(KeySet.UNIFORM, 5_000, 0.7, Distribution.UNIFORM, 0, 1L << 40, 1_000, 2, 0, 1, 17);
    try (LocalTestbed testbed = LocalTestbed.load(SkipListSubject.sorted(), brief)) {
      assertThat(testbed.run(Workload.READ_ONLY).operations).isBetween(1_000L, 1L << 39);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldStopAtAWrongAnswer(Fault fault) {
    try (LocalTestbed testbed = LocalTestbed.load(new FaultySubject(fault), PLAN)) {
      assertThatExceptionOfType(WrongResultException.class)
          .isThrownBy(() -> testbed.run(fault.workload))
          .withMessageContaining(fault.message)
          .withMessageContaining("seed=17");
    }
  }

  @Test
  void shouldNoticeARecordThatGotLost() {
    SkipListSubject subject = SkipListSubject.sorted();
    try (LocalTestbed testbed = LocalTestbed.load(subject, PLAN)) {
      Audit audit = testbed.audit();
      audit.check(PLAN);
      Audit lacking = new Audit(audit.entries() - 1, 0);
      assertThatExceptionOfType(WrongResultException.class)
          .isThrownBy(() -> lacking.check(PLAN))
          .withMessageContaining("entries=4999");
    }
  }

  /** What a broken index may do. */
  enum Fault {
    MISSING(Workload.READ_ONLY, "a record is missing"),
    WRONG_VALUE(Workload.READ_ONLY, "sequence=none"),
    MISSING_OF_SEVERAL(Workload.MULTI_GET, "a record is missing"),
    WRONG_VALUE_OF_SEVERAL(Workload.MULTI_GET, "sequence=none"),
    STALE_VALUE(Workload.WRITE_INTENSIVE, "a record has a wrong value"),
    LOST_UPDATE(Workload.WRITE_INTENSIVE, "a record has a wrong value"),
    UPDATE_MISSING(Workload.WRITE_INTENSIVE, "a record to update is missing"),
    INSERT_PRESENT(Workload.INSERT_ONLY, "a record to insert is already there"),
    SCAN_SKIPS_FIRST(Workload.SCAN_INTENSIVE, "a scan does not begin with its record"),
    SCAN_REPEATS(Workload.SCAN_INTENSIVE, "a scan is out of order"),
    SCAN_ENDS_EARLY(Workload.SCAN_INTENSIVE, "a scan has a wrong length"),
    SCAN_INVENTS(Workload.SCAN_INTENSIVE, "a record was never stored");

    private final Workload workload;
    private final String message;

    Fault(Workload workload, String message) {
      this.workload = workload;
      this.message = message;
    }
  }

  /** Goes wrong now and then, in one way. */
  private static final class FaultySubject implements Subject {
    private final SkipListSubject sound = SkipListSubject.sorted();
    private final Fault fault;

    FaultySubject(Fault fault) {
      this.fault = fault;
    }

    @Override
    public String name() {
      return "faulty";
    }

    @Override
    public void load(EntrySource entries, double fill) {
      sound.load(entries, fill);
    }

    @Override
    public Access access() {
      return new FaultyAccess(fault, sound.access());
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public void close() {
      sound.close();
    }
  }

  private static final class FaultyAccess implements Access {
    private static final int EVERY = 300;

    private final Fault fault;
    private final Access sound;
    private long value;
    private int operations;

    FaultyAccess(Fault fault, Access sound) {
      this.fault = fault;
      this.sound = sound;
    }

    @Override
    public long value() {
      return value;
    }

    @Override
    public boolean get(long key) {
      boolean found = sound.get(key);
      value = sound.value();
      if (strikes(Fault.WRONG_VALUE) || strikes(Fault.WRONG_VALUE_OF_SEVERAL)) {
        value ^= 4;
      }
      return found && !strikes(Fault.MISSING) && !strikes(Fault.MISSING_OF_SEVERAL);
    }

    @Override
    public boolean update(long key, long newValue) {
      if (strikes(Fault.LOST_UPDATE)) {
        boolean found = sound.get(key);
        value = sound.value();
        return found;
      }
      boolean found = sound.update(key, newValue);
      value = strikes(Fault.STALE_VALUE) ? newValue : sound.value();
      return found && !strikes(Fault.UPDATE_MISSING);
    }

    @Override
    public boolean insert(long key, long newValue) {
      return sound.insert(key, newValue) && !strikes(Fault.INSERT_PRESENT);
    }

    @Override
    public long scan(long from, long to, long limit, EntryVisitor visitor) {
      long start = strikes(Fault.SCAN_SKIPS_FIRST) ? from + 1 : from;
      long most = strikes(Fault.SCAN_ENDS_EARLY) ? 1 : limit;
      long visited = sound.scan(start, to, most, visitor);
      if (strikes(Fault.SCAN_REPEATS)) {
        visitor.visit(from, 0);
      }
      if (strikes(Fault.SCAN_INVENTS)) {
        visitor.visit(Long.MAX_VALUE, 0);
      }
      return visited;
    }

    @Override
    public void close() {
      sound.close();
    }

    private boolean strikes(Fault kind) {
      return fault == kind && ++operations % EVERY == 0;
    }
  }
}
