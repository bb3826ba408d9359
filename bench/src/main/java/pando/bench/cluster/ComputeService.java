package pando.bench.cluster;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import pando.bench.run.Audit;
import pando.bench.run.Footprint;
import pando.bench.run.LocalTestbed;
import pando.bench.run.Measurement;
import pando.bench.run.Plan;
import pando.bench.run.Share;
import pando.bench.run.Testbed;
import pando.bench.subject.IndexSubject;
import pando.bench.workload.Workload;
import pando.fabric.Fabric;
import pando.index.IndexOptions;
import pando.index.Partitioning;

/** The child's end: runs some of the compute servers, and does what the parent asks. */
public final class ComputeService implements AutoCloseable {
  private final Plan plan;
  private final IndexOptions options;
  private final Fabric fabric;
  private final int process;
  private final int processes;
  private final DataInputStream requests;
  private final DataOutputStream answers;
  private @Nullable Testbed testbed;

  /**
   * Prepares the service.
   *
   * @param fabric of all memory servers; closed with the service
   * @param process number of this process among those that run compute servers
   * @param requests from the parent
   * @param answers to the parent
   */
  public ComputeService(
      Plan plan,
      IndexOptions options,
      Fabric fabric,
      int process,
      int processes,
      DataInputStream requests,
      DataOutputStream answers) {
    this.plan = plan;
    this.options = options;
    this.process = process;
    this.processes = processes;
    this.requests = requests;
    this.answers = answers;
    this.fabric = fabric;
  }

  /** Serves until the parent sends the request to end, or has ended. */
  public void run() throws IOException {
    try {
      for (ProcessRequest request = next(); request != ProcessRequest.END; request = next()) {
        serve(request);
      }
    } catch (EOFException parentHasGone) {
      // The parent has ended, so there is no one to answer.
    }
  }

  /** Writes dirty nodes back and disconnects from the memory servers. */
  @Override
  public void close() {
    if (testbed == null) {
      fabric.close();
    } else {
      testbed.close();
    }
  }

  private ProcessRequest next() throws IOException {
    return ProcessRequest.valueOf(requests.readUTF());
  }

  private void serve(ProcessRequest request) throws IOException {
    try {
      answer(request);
    } catch (IllegalArgumentException e) {
      answers.writeUTF(Answer.REFUSED.name());
      answers.writeUTF(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      answers.writeUTF(Answer.FAILED.name());
      answers.writeUTF(e.toString());
    }
    answers.flush();
  }

  private void answer(ProcessRequest request) throws IOException {
    switch (request) {
      case LOAD -> {
        IndexSubject subject = IndexSubject.open(options, fabric, firstServer(), servers());
        Duration _ = LocalTestbed.fill(subject, plan);
        open(subject);
        answers.writeUTF(Answer.DONE.name());
      }
      case JOIN -> {
        open(new IndexSubject(fabric, options.join(fabric, firstServer(), servers())));
        answers.writeUTF(Answer.DONE.name());
      }
      case RUN -> {
        Measurement measurement = testbed().run(Workload.valueOf(requests.readUTF()));
        answers.writeUTF(Answer.DONE.name());
        measurement.write(answers);
      }
      case AUDIT -> {
        Audit audit = testbed().audit();
        answers.writeUTF(Answer.DONE.name());
        answers.writeLong(audit.entries());
        answers.writeLong(audit.inserted());
      }
      case BYTES -> {
        Footprint footprint = testbed().footprint(plan.records());
        answers.writeUTF(Answer.DONE.name());
        answers.writeLong(footprint.poolBytes());
        answers.writeLong(footprint.cachedBytes());
      }
      case GO, END -> throw new IllegalStateException("unexpected request: " + request);
    }
  }

  private void open(IndexSubject subject) {
    Partitioning partitioning = subject.index().partitioning();
    long low = partitioning.lowOfServer(firstServer());
    long high = partitioning.highOfServer(firstServer() + servers() - 1);
    Share share = new Share(process, processes, low, high);
    testbed = LocalTestbed.ofPart(subject, plan, share, this::awaitGo);
  }

  private Testbed testbed() {
    if (testbed == null) {
      throw new IllegalStateException("nothing is loaded");
    }
    return testbed;
  }

  private int firstServer() {
    return options.computeServers() * process / processes;
  }

  private int servers() {
    return options.computeServers() * (process + 1) / processes - firstServer();
  }

  /** Answers the parent that this process is warm, and waits for the request to start measuring. */
  private void awaitGo() {
    try {
      answers.writeUTF(Answer.DONE.name());
      answers.flush();
      ProcessRequest request = next();
      if (request != ProcessRequest.GO) {
        throw new IllegalStateException("unexpected request: " + request);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
