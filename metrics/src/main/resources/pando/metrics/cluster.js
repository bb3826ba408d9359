// A cluster.

const ofEach = [
  ['Keys of each', count, server => server.entries],
  ['Processors of each', busy => grouped(busy, 2), (server, now, before) => processors(now, before, server)],
  ['Unwritten of each', bytes, server => server.unwrittenBytes],
].map(([title, format, read]) => ({chart: new Chart(title, format, []), read}));
const charted = new Set();
charts.push(...ofEach.map(({chart}) => chart));

const computeServer = (row, number) => row?.cluster?.computeServers.find(server => server.number === number);

/** How many processors a compute server has kept busy. */
function processors(now, before, {number, process}) {
  const spent = now.cluster.cpuSeconds[number] - before?.cluster?.cpuSeconds[number];
  return computeServer(before, number)?.process === process && spent >= 0
    ? spent / ((now.millis - before.millis) / 1e3)
    : null;
}

/** Gives each compute server that is seen for the first time a line in each chart. */
function addLines(now) {
  for (const {number} of now.cluster?.computeServers ?? []) {
    if (!charted.has(number)) {
      charted.add(number);
      for (const {chart, read} of ofEach) {
        chart.add(
          `compute server ${number}`,
          (now, before) => {
            const server = computeServer(now, number);
            return server ? read(server, now, before) : null;
          },
          () => ofServer(number),
          ofServer(number));
      }
    }
  }
}

const computeServers = panel('Compute servers', 'wide');
const computeTable = new Table(
  computeServers.section,
  ['server', 'state', 'keys', 'share', 'processors', 'unwritten', 'oldest unwritten', 'epoch', 'clients at', 'process', 'from']);
const poolServers = panel('Memory servers', 'wide');
const poolTable = new Table(poolServers.section, ['server', 'state', 'pool given', 'address']);
const changes = panel('Changes', 'wide');
const changesTable = new Table(changes.section, ['change', 'what', 'state', 'why']);
const happened = panel('What happened', 'wide');
const happenedTable = new Table(happened.section, ['at', 'what']);

const lower = name => name.toLowerCase().replaceAll('_', ' ');

/** How a state stands out. */
const stateOf = state => element('span', {LOST: 'bad', FAILED: 'bad', SERVING: 'good'}[state] ?? '', lower(state));

function tellCluster(now, before) {
  const {cluster} = now;
  const {computeServers: compute, memoryServers: memory, happenings} = cluster;
  const shares = new Map();
  for (const {server, share} of cluster.ranges) {
    shares.set(server, share);
  }
  tellClusterSummary(now);
  tellPartitions(cluster.ranges, ', not served now');
  computeTable.tell(compute.map(server => [
    `${server.number}${server.number === cluster.leader ? ', leader' : ''}`,
    stateOf(server.state),
    '~ ' + count(server.entries),
    shares.has(server.number) ? percent(shares.get(server.number)) : 'no range',
    said(busy => grouped(busy, 2), processors(now, before, server)),
    server.unwrittenBytes > 0 ? '~ ' + bytes(server.unwrittenBytes) : 'nothing',
    said(time, server.unwrittenSeconds || null),
    count(server.epoch),
    server.address || '–',
    `${server.process} on ${server.machine}`,
    server.from ?? '–',
  ]));
  poolTable.tell(memory.map(server =>
    [String(server.number), stateOf(server.state), bytes(server.bytes), server.address]));
  changesTable.tell(cluster.changes.toReversed().map(change =>
    [String(change.id), `${lower(change.kind)} of compute server ${change.server}`, stateOf(change.state), change.why || '–']));
  happenedTable.tell(happenings.toReversed().map(({millis, text}) => [clock(millis / 1e3), text]));
  computeServers.section.hidden = compute.length === 0;
  poolServers.section.hidden = memory.length === 0;
  changes.section.hidden = cluster.changes.length === 0;
  happened.section.hidden = happenings.length === 0;
}

function tellClusterSummary(now) {
  const {cluster, meters} = now;
  const underWay = cluster.changes.filter(({state}) => state === 'ASKED' || state === 'UNDER_WAY').length;
  const losses = meters['pando.cluster.losses'] ?? 0;
  const lost = cluster.happenings.findLast(({loss}) => loss);
  summary.tell('keys', 'about ' + count(meters['pando.keys'] ?? 0));
  summary.tell('pool given', bytes(meters['pando.cluster.pool.bytes'] ?? 0));
  summary.tell('unwritten', bytes(meters['pando.unwritten.bytes'] ?? 0));
  summary.tell('ranges', count(cluster.ranges.length));
  summary.tell('leader', cluster.leader === undefined ? 'none' : `compute server ${cluster.leader}`);
  summary.tell('changes under way', count(underWay));
  summary.tell('losses', count(losses), losses > 0 ? 'bad' : '');
  summary.tell('last loss', lost && `${ago(now, lost.millis)}: ${lost.text}`, 'lesser');
}
