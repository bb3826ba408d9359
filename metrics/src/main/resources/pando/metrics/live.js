// An index, a map or a door.

const sumOfStates = (now, state) =>
  Object.entries(now.meters)
    .filter(([id]) => id.startsWith('pando.pool.bytes{') && id.endsWith(`state=${state}}`))
    .reduce((all, [, bytes]) => (all ?? 0) + bytes, null);

function hitRatio(now, before) {
  const hits = rise(now, before, 'pando.cache.hits{level=leaf}');
  const misses = rise(now, before, 'pando.cache.misses{level=leaf}');
  return hits + misses > 0 ? hits / (hits + misses) : null;
}

/** The share of one meter in the sum of two, since the start. */
function share(now, one, other) {
  const [part, rest] = [now.meters[one], now.meters[other]];
  return part + rest > 0 ? part / (part + rest) : null;
}

const charts = [
  new Chart('Operations a second', count, [['operations', rate('pando.ops')]]),
  new Chart(
    'Latency', time,
    [['p50', value('pando.latency.seconds{quantile=0.5}')], ['p99', value('pando.latency.seconds{quantile=0.99}')]],
    {logarithmic: true}),
  new Chart(
    'Verbs a second', count,
    ['read', 'write', 'atomic', 'call'].map(kind => [kind.toUpperCase(), rate(`pando.verbs{kind=${kind}}`)])),
  new Chart(
    'Bytes a second', bytes,
    [['from the pool', rate('pando.bytes{dir=in}')], ['to the pool', rate('pando.bytes{dir=out}')]]),
  new Chart('Leaves found in the cache', percent, [['hits', hitRatio]], {most: 1}),
  new Chart(
    'Caches', count,
    [['admissions a second', rate('pando.cache.admissions')], ['evictions a second', rate('pando.cache.evictions')]]),
  new Chart(
    'Bytes of clients a second', bytes,
    [['from clients', rate('pando.resp.bytes{dir=in}')], ['to clients', rate('pando.resp.bytes{dir=out}')]]),
  new Chart('Clients', count, [['connected', value('pando.resp.connections')], ['come a second', rate('pando.resp.accepted')]]),
  new Chart(
    'Errors to clients a second', count,
    ['refused', 'failed', 'protocol'].map(kind => [kind, rate(`pando.resp.errors{kind=${kind}}`)])),
];
const operations = charts[0];

/** What an operation costs, where operations are counted. */
function tellCosts(now, before) {
  const of = rise(now, before, 'pando.ops');
  const each = name => (rise(now, before, name) / of).toFixed(2);
  operations.note.textContent = of > 0
    ? `each ${each('pando.verbs')} verbs, ${each('pando.trips')} trips, ${each('pando.bytes')} bytes`
    : '';
}

const ago = (now, millis) => duration(Math.max(0, now.millis - millis) / 1e3) + ' ago';

/** The line on top, of what is not a cluster. */
function tellSummary(now) {
  const [used, given] = [sumOfStates(now, 'used'), sumOfStates(now, 'capacity')];
  const failed = Object.entries(now.meters)
    .filter(([id]) => id.startsWith('pando.resp.errors{') || id.startsWith('pando.tasks{outcome=failed'))
    .map(([, errors]) => errors);
  const [hits, keyHits] = [
    share(now, 'pando.cache.hits{level=leaf}', 'pando.cache.misses{level=leaf}'),
    share(now, 'pando.resp.lookups{outcome=found}', 'pando.resp.lookups{outcome=absent}'),
  ];
  summary.tell('keys', said(count, now.meters['pando.keys']));
  summary.tell('pool used', given > 0 ? `${bytes(used)} of ${bytes(given)} (${percent(used / given)})` : '–');
  summary.tell('cache hit rate', hits === null ? null : percent(hits));
  summary.tell('key hit rate', keyHits === null ? null : percent(keyHits));
  if (failed.length > 0) {
    const errors = failed.reduce((a, b) => a + b);
    summary.tell('errors', count(errors), errors > 0 ? 'bad' : '');
  }
  summary.tell('last error', now.lastError && `${now.lastError.what}, ${ago(now, now.lastError.millis)}`, 'lesser');
}

// What lies where.

const held = panel('What caches hold');
const heldParts = held.section.appendChild(element('div'));
const heldFacts = new Facts(held.section.appendChild(element('dl', 'facts')));

function tellHeld(now) {
  const all = now.meters['pando.cache.bytes'];
  held.section.hidden = all === undefined;
  held.note.textContent = said(bytes, all);
  const shares = ['records', 'deltas', 'images', 'directory', 'blocks', 'labels']
    .map((of, i) => [of, now.meters[`pando.cache.share.bytes{of=${of}}`], `var(--c${i})`])
    .filter(([, share]) => share !== undefined);
  tellParts('memory given to', shares);
  for (const [name, id, format = count] of [
    ['restarts of descents', 'pando.restarts'],
    ...['merge', 'move', 'retrain'].flatMap(task => [
      [`${task}s in the background`, `pando.tasks{outcome=done,task=${task}}`],
      [`${task}s that failed`, `pando.tasks{outcome=failed,task=${task}}`],
    ]),
    ['second chances', 'pando.cache.second.chances'],
    ['dirty nodes written', 'pando.cache.writebacks'],
    ['operations offloaded', 'pando.offloads{outcome=done}'],
    ['blocks', 'pando.blocks'],
    ['changes that wait', 'pando.changes.waiting'],
    ['unwritten', 'pando.unwritten.bytes', bytes],
    ['oldest unwritten', 'pando.unwritten.seconds', time],
    ['bytes of the index in the pool', 'pando.index.bytes', bytes],
    ['bytes of values beside it', 'pando.value.bytes', bytes],
  ]) {
    heldFacts.tell(name, id in now.meters ? format(now.meters[id]) : null);
  }
}

let partsShown = '';
let partsOf = [];

/** A bar of parts, and what each is. */
function tellParts(name, shares) {
  const names = shares.map(([of]) => of).join();
  if (names !== partsShown) {
    partsShown = names;
    const label = element('div', 'bar-label', name);
    const bar = element('div', 'bar thin');
    const legend = element('ul', 'legend');
    partsOf = shares.map(([of, , background]) => {
      const part = bar.appendChild(element('div'));
      part.style.background = background;
      const {item, value} = entry(of, background);
      legend.append(item);
      return {part, value};
    });
    heldParts.replaceChildren(...(shares.length > 0 ? [label, bar, legend] : []));
  }
  shares.forEach(([, share], i) => {
    partsOf[i].part.style.flexGrow = share;
    partsOf[i].value.textContent = bytes(share);
  });
}

const commands = panel('Commands');
const commandsBody = commands.section.appendChild(element('table'));
const COMMANDS_SHOWN = 10;
const COMMAND = /^pando\.resp\.commands\{command=(.*)\}$/;

/** The commands that came most often. */
function tellCommands(now, before) {
  const all = Object.entries(now.meters)
    .filter(([id, came]) => COMMAND.test(id) && came > 0)
    .sort(([, one], [, other]) => other - one);
  commands.section.hidden = all.length === 0;
  commands.note.textContent = all.length > COMMANDS_SHOWN ? `${COMMANDS_SHOWN} of ${all.length}` : '';
  commandsBody.replaceChildren();
  for (const [id, came] of all.slice(0, COMMANDS_SHOWN)) {
    const row = commandsBody.insertRow();
    row.append(element('th', '', COMMAND.exec(id)[1].toUpperCase()));
    row.insertCell().textContent = count(came);
    row.insertCell().textContent = said(count, rate(id)(now, before)) + ' a second';
  }
}

const servers = panel('Memory servers');
const serversBody = servers.section.appendChild(element('div', 'columns'));

function tellServers(now) {
  const rows = [];
  for (let ms = 0; ms < now.memoryServers; ms++) {
    const of = state => now.meters[`pando.pool.bytes{ms=${ms},state=${state}}`];
    const [capacity, reserved, used] = ['capacity', 'reserved', 'used'].map(of);
    const label = element('div', 'bar-label');
    const right = element('span', 'note');
    right.textContent = capacity === undefined
      ? 'does not answer'
      : `used ${bytes(used)}, given out ${bytes(reserved)}, of ${bytes(capacity)}`;
    label.append(element('span', '', `memory server ${ms}`), right);
    const bar = element('div', 'bar thin');
    for (const [size, background] of
      [[used, 'var(--c0)'], [reserved - used, 'color-mix(in srgb, var(--c0) 45%, transparent)'], [capacity - reserved, 'transparent']]) {
      const part = bar.appendChild(element('div'));
      part.style.flexGrow = size || 0;
      part.style.minWidth = 0;
      part.style.background = background;
    }
    const row = element('div');
    row.append(label, bar);
    rows.push(row);
  }
  servers.section.hidden = rows.length === 0;
  servers.section.className = now.partitions.length === 0 ? 'wide' : 'two';
  serversBody.replaceChildren(...rows);
}

const partitions = panel('Key space, by compute server', 'wide');
const partitionsBody = partitions.section.appendChild(element('div'));

/** Shows which compute server has which part, and what is said of those that do not serve here. */
function tellPartitions(ranges, elsewhere) {
  partitions.section.hidden = ranges.length === 0;
  partitions.note.textContent = ranges.length === 1 ? 'one range of keys' : `${ranges.length} ranges of keys, in order`;
  const bar = element('div', 'bar');
  const legend = element('ul', 'legend');
  for (const {server, served, share} of ranges) {
    const part = bar.appendChild(element('div', served ? '' : 'away'));
    part.style.flexGrow = share;
    part.style.background = ofServer(server);
    part.title = `compute server ${server}: ${percent(share)}`;
    const {item, value} = entry(`compute server ${server}`, ofServer(server));
    value.textContent = percent(share) + (served ? '' : elsewhere);
    legend.append(item);
  }
  partitionsBody.replaceChildren(bar, legend);
}

function tellIndex(now, before) {
  tellSummary(now);
  tellCosts(now, before);
  tellHeld(now);
  tellCommands(now, before);
  tellServers(now);
  tellPartitions(now.partitions, ', in another process');
}
