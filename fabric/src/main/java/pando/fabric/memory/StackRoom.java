package pando.fabric.memory;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandles;

/**
 * Room on the stack of the calling thread. An operation checks it before its first step: so a
 * {@link StackOverflowError} comes before anything was changed, and never half-way, nor in what
 * would have been undone.
 *
 * <p>Java has no way to ask for the stack that is left. But HotSpot checks, where a method begins,
 * that its local variables have room as the interpreter would lay them out, compiled or not, as
 * compiled code may have to go on in the interpreter. So a check is a call of a method with so many
 * local variables that it never uses. Compiled, that is a write to each page of the room. The
 * method is generated, as no source has thousands of variables.
 *
 * <p>Operations take 12 KB where they are interpreted, and 24 KB where their classes are loaded on
 * the way. One that uses operations of the layer below needs more room than they do, as these
 * check, too, when they undo what it did.
 */
public interface StackRoom {
  /** To give back what was borrowed for a single operation, which checks by itself. */
  StackRoom RETURNS = ofKilobytes(8);

  /** For an operation on an index of words, or a change of an index as a whole. */
  StackRoom WORDS = ofKilobytes(24);

  /** For an operation on byte strings, which uses those on words. */
  StackRoom STRINGS = ofKilobytes(30);

  /** For an operation on a map, which uses those on words or byte strings. */
  StackRoom MAPS = ofKilobytes(36);

  /**
   * Checks that there is room.
   *
   * @throws StackOverflowError if there is not
   */
  void check();

  private static StackRoom ofKilobytes(int kilobytes) {
    try {
      return (StackRoom)
          MethodHandles.lookup()
              .defineHiddenClass(classOfKilobytes(kilobytes), true)
              .lookupClass()
              .getConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static byte[] classOfKilobytes(int kilobytes) {
    ClassDesc name = ClassDesc.of(StackRoom.class.getPackageName(), "Kilobytes" + kilobytes);
    return ClassFile.of()
        .build(
            name,
            type ->
                type.withInterfaceSymbols(ClassDesc.of(StackRoom.class.getName()))
                    .withField("never", ConstantDescs.CD_boolean, ClassFile.ACC_STATIC)
                    .withMethodBody(
                        ConstantDescs.INIT_NAME,
                        ConstantDescs.MTD_void,
                        ClassFile.ACC_PUBLIC,
                        code ->
                            code.aload(0)
                                .invokespecial(
                                    ConstantDescs.CD_Object,
                                    ConstantDescs.INIT_NAME,
                                    ConstantDescs.MTD_void)
                                .return_())
                    .withMethodBody(
                        "check",
                        ConstantDescs.MTD_void,
                        ClassFile.ACC_PUBLIC,
                        code -> check(code, name, kilobytes)));
  }

  /**
   * Writes the method. A call that is never made is where compiled code would go on in the
   * interpreter; without one, its variables would not count. Code that does nothing makes the
   * method too long to become part of its callers, each of which would describe all variables.
   */
  private static void check(CodeBuilder code, ClassDesc name, int kilobytes) {
    Label end = code.newLabel();
    code.getstatic(name, "never", ConstantDescs.CD_boolean).ifeq(end);
    code.aload(0).invokevirtual(name, "check", ConstantDescs.MTD_void);
    int last = 0;
    for (int i = 0; i < kilobytes * 1024 / (2 * Long.BYTES); i++) {
      last = code.allocateLocal(TypeKind.LONG);
    }
    code.lconst_0().lstore(last);
    for (int i = 0; i < 400; i++) {
      code.nop();
    }
    code.labelBinding(end).return_();
  }
}
