package pando.fabric.tcp;

import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.VerbList.Outcome;
import pando.fabric.wire.Frame;

/** Cuts READs and WRITEs that are too long for the wire. Allocates only to grow. */
final class VerbPieces {
  private final VerbList pieces = new VerbList();

  /** Returns a list to be sent in place of another: mostly that one. */
  VerbList of(VerbList list) {
    int size = list.size();
    int tooLong = 0;
    for (int i = 0; i < size; i++) {
      tooLong += list.length(i) > Frame.VERB_BYTES_MAX ? 1 : 0;
    }
    pieces.clear();
    if (tooLong == 0) {
      return list;
    }
    for (int i = 0; i < size; i++) {
      add(list, i);
    }
    pieces.setDone(0);
    return pieces;
  }

  /** Says what became of the verbs of the list that was cut, if any was. */
  void tellOutcomes(VerbList list) {
    int piece = 0;
    for (int i = 0; piece < pieces.size(); i++) {
      Outcome outcome = pieces.outcome(piece);
      int bytes = 0;
      do {
        outcome = outcome == pieces.outcome(piece) ? outcome : Outcome.UNKNOWN;
        bytes += pieces.length(piece);
        piece++;
      } while (bytes < list.length(i));
      list.setOutcome(i, outcome);
    }
  }

  private void add(VerbList list, int i) {
    Kind kind = list.kind(i);
    long remote = list.remote(i);
    long local = list.local(i);
    switch (kind) {
      case READ, WRITE -> addPieces(kind, remote, local, list.length(i));
      case MASKED_CAS_16 -> pieces.maskedCas16(remote, local);
      case CAS -> pieces.cas(remote, list.operand(i, 0), list.operand(i, 1), local);
      case FAA -> pieces.faa(remote, list.operand(i, 0), local);
      case MASKED_FAA -> pieces.maskedFaa(remote, list.operand(i, 0), list.operand(i, 1), local);
      case MASKED_CAS ->
          pieces.maskedCas(
              remote,
              list.operand(i, 0),
              list.operand(i, 1),
              list.operand(i, 2),
              list.operand(i, 3),
              local);
    }
  }

  /** Adds pieces that end where a word of the pool does, as a word must not be cut. */
  private void addPieces(Kind kind, long remote, long local, int bytes) {
    int done = 0;
    do {
      int most = Frame.VERB_BYTES_MAX - (int) (remote + done & (Long.BYTES - 1));
      int piece = Math.min(bytes - done, most);
      if (kind == Kind.READ) {
        pieces.read(remote + done, local + done, piece);
      } else {
        pieces.write(remote + done, local + done, piece);
      }
      done += piece;
    } while (done < bytes);
  }
}
