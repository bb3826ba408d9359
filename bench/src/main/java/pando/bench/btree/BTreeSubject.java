package pando.bench.btree;

import pando.bench.subject.Access;
import pando.bench.subject.Subject;
import pando.index.EntrySource;

/** The plain B+-tree as something to run workloads against. */
public final class BTreeSubject implements Subject {
  private final BTree tree;

  /**
   * Creates an empty tree.
   *
   * @param bytes that its nodes can take, rounded up to one node; unused ones cost nothing
   */
  public BTreeSubject(long bytes) {
    tree = new BTree(Math.max(bytes, Node.BYTES));
  }

  @Override
  public String name() {
    return "btree";
  }

  @Override
  public void load(EntrySource entries, double fill) {
    new BTreeLoader(tree, fill).load(entries);
  }

  @Override
  public Access access() {
    return new BTreeAccess(tree);
  }

  @Override
  public long bytes() {
    return tree.usedBytes();
  }

  @Override
  public void close() {
    tree.close();
  }
}
