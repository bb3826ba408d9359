package pando.bench.figure;

import java.util.List;

/** ORCA, the project's own index, beside the other systems: all of its figures. */
final class Orca implements OrcaFigure {
  @Override
  public String name() {
    return "orca";
  }

  @Override
  public String title() {
    return "ORCA beside the other systems";
  }

  @Override
  public List<Figure> parts() {
    return List.of(
        new OrcaTable2(),
        new OrcaCaches(),
        new OrcaWorkloads(),
        new OrcaAblation(),
        new OrcaScaling());
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    return parts().stream().flatMap(part -> part.run(records, seed).stream()).toList();
  }
}
