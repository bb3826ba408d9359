package pando.bench.cluster;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import pando.bench.run.Audit;
import pando.bench.run.Measurement;
import pando.bench.workload.Workload;
import pando.cli.cluster.JavaProcess;

/** The parent's end of a process that runs compute servers. */
final class ComputeProcess implements AutoCloseable {
  private final JavaProcess process;
  private final DataOutputStream requests;
  private final DataInputStream answers;

  ComputeProcess(JavaProcess process) {
    this.process = process;
    requests = new DataOutputStream(process.input());
    answers = new DataInputStream(process.output());
  }

  /** Sends a request. */
  void send(ProcessRequest request) throws IOException {
    requests.writeUTF(request.name());
    requests.flush();
  }

  /** Sends a request to run a workload. */
  void sendRun(Workload workload) throws IOException {
    requests.writeUTF(ProcessRequest.RUN.name());
    requests.writeUTF(workload.name());
    requests.flush();
  }

  /**
   * Waits for the answer to a request that has no result.
   *
   * @throws IllegalArgumentException if the process refused what it was asked
   */
  void awaitDone() throws IOException {
    try {
      switch (Answer.valueOf(answers.readUTF())) {
        case DONE -> {}
        case REFUSED -> throw new IllegalArgumentException(answers.readUTF());
        case FAILED ->
            throw new IOException("compute process failed: " + answers.readUTF() + ", " + process);
      }
    } catch (EOFException e) {
      throw new IOException("compute process has ended: " + process, e);
    }
  }

  /** Waits for a measurement. */
  Measurement awaitMeasurement() throws IOException {
    awaitDone();
    return Measurement.read(answers);
  }

  /** Waits for an audit. */
  Audit awaitAudit() throws IOException {
    awaitDone();
    return new Audit(answers.readLong(), answers.readLong());
  }

  /** Waits for the next number of bytes of an answer, which may have several. */
  long nextBytes() throws IOException {
    return answers.readLong();
  }

  /** Asks the process to write its caches back and end, unless it has ended already. */
  @Override
  public void close() {
    try {
      send(ProcessRequest.END);
      requests.close();
      process.awaitEnd();
    } catch (IOException hasEnded) {
      // Then there is nothing to write back.
    }
    process.close();
  }
}
