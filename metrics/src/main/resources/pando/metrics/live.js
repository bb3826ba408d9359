'use strict';
(() => {
  const POINTS_MAX = 600; // ten minutes
  const WINDOW_MIN = 60; // seconds that a chart shows at the least
  const CHART_HEIGHT = 150;

  // Numbers as people read them.

  function scaled(number, unit) {
    const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    const [by, prefix] = steps.find(([by]) => Math.abs(number) >= by) ?? [1, ''];
    const value = number / by;
    const digits = prefix === '' && Number.isInteger(value) ? 0 : value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return value.toFixed(digits) + (prefix || unit ? ' ' : '') + prefix + unit;
  }
  const count = number => scaled(number, '');
  const bytes = number => scaled(number, 'B');
  const percent = share => (100 * share).toFixed(1) + ' %';
  const time = seconds =>
    seconds < 1e-6 ? (seconds * 1e9).toFixed(0) + ' ns'
      : seconds < 1e-3 ? (seconds * 1e6).toFixed(1) + ' µs'
        : seconds < 1 ? (seconds * 1e3).toFixed(1) + ' ms'
          : seconds.toFixed(1) + ' s';
  const said = (format, number) => (number == null ? '–' : format(number));
  const clock = seconds => new Date(seconds * 1e3).toTimeString().slice(0, 8);

  const isPowerOfTen = number => Math.abs(Math.log10(number) - Math.round(Math.log10(number))) < 1e-9;

  // Parts of the page.

  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ofServer = server => `hsl(${(215 + server * 137.5) % 360} 60% 52%)`;

  function element(kind, className, text) {
    const made = document.createElement(kind);
    if (className) {
      made.className = className;
    }
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  function panel(title, className) {
    const section = element('section', className);
    const head = element('div', 'head');
    const note = element('span', 'note');
    head.append(element('h2', '', title), note);
    section.append(head);
    section.hidden = true;
    document.getElementById('panels').append(section);
    return {section, note};
  }

  function entry(name, background) {
    const item = element('li');
    const swatch = element('span', 'swatch');
    swatch.style.background = background;
    const value = element('b');
    item.append(swatch, name + ' ', value);
    return {item, value};
  }

  // Charts of what changes.

  const seconds = [];

  /** Lines over time; each takes its number from what came last, and what came before. */
  class Chart {
    constructor(title, format, lines, {logarithmic, most} = {}) {
      Object.assign(this, panel(title), {format, logarithmic, most});
      this.lines = lines.map(([name, read], i) => ({name, read, values: [], colour: `--c${i}`}));
      const legend = element('ul', 'legend');
      for (const line of this.lines) {
        const {item, value} = entry(line.name, `var(${line.colour})`);
        line.value = value;
        legend.append(item);
      }
      this.place = element('div');
      this.section.append(legend, this.place);
    }

    take(now, before) {
      for (const line of this.lines) {
        line.values.push(now ? line.read(now, before) : null);
        line.values.splice(0, line.values.length - seconds.length);
      }
      this.section.hidden &&= this.lines.every(line => line.values.every(value => value == null));
      if (!this.section.hidden && seconds.length > 1) {
        this.plot ??= this.open();
        this.plot.setData(this.data());
        this.tell(this.plot.cursor.idx);
      }
    }

    data() {
      return [seconds, ...this.lines.map(line => line.values)];
    }

    /** Tells the numbers under the cursor, or the last ones. */
    tell(index) {
      for (const line of this.lines) {
        line.value.textContent = said(this.format, line.values[index ?? line.values.length - 1]);
      }
    }

    open() {
      const axis = {stroke: () => colour('--quiet'), ticks: {show: false}, font: '11px system-ui, sans-serif'};
      const grid = {stroke: () => colour('--line'), width: 1};
      if (this.logarithmic) {
        grid.filter = (_, ticks) => ticks.map(tick => (isPowerOfTen(tick) ? tick : null));
      }
      const plot = new uPlot(
        {
          width: this.place.clientWidth,
          height: CHART_HEIGHT,
          legend: {show: false},
          padding: [10, 24, 0, 0],
          cursor: {y: false, drag: {x: false, y: false}, points: {size: 5}},
          scales: {
            x: {range: (_, least, most) => [Math.min(least, most - WINDOW_MIN), most]},
            y: this.logarithmic
              ? {distr: 3}
              : {range: (_, least, most) => [0, this.most ?? (most > 0 ? most * 1.1 : 1)]},
          },
          axes: [
            {...axis, grid: {show: false}, space: 80, size: 26, values: (_, ticks) => ticks.map(clock)},
            // On a logarithmic axis, ticks between powers of ten are null.
            {...axis, grid, size: 62, space: 34, values: (_, ticks) => ticks.map(tick => (tick == null ? '' : this.format(tick)))},
          ],
          series: [
            {},
            ...this.lines.map(line => ({stroke: () => colour(line.colour), width: 2, points: {show: false}})),
          ],
          hooks: {setCursor: [plot => this.tell(plot.cursor.idx)]},
        },
        this.data(),
        this.place);
      new ResizeObserver(() => plot.setSize({width: this.place.clientWidth, height: CHART_HEIGHT}))
        .observe(this.place);
      return plot;
    }
  }

  // What the meters say.

  /** The sum of all meters of a name, or undefined if there is none. */
  function sum(numbers, name) {
    const own = Object.entries(numbers.meters)
      .filter(([id]) => id === name || id.startsWith(name + '{'))
      .map(([, value]) => value);
    return own.length === 0 ? undefined : own.reduce((a, b) => a + b);
  }

  function rise(now, before, name) {
    const after = sum(now, name);
    const earlier = before && sum(before, name);
    return after === undefined || earlier === undefined || after < earlier ? null : after - earlier;
  }

  const rate = name => (now, before) => {
    const rose = before && rise(now, before, name);
    return rose == null ? null : rose / ((now.millis - before.millis) / 1e3);
  };
  const value = name => now => now.meters[name] ?? null;

  function hitRatio(now, before) {
    const hits = rise(now, before, 'pando.cache.hits{level=leaf}');
    const misses = rise(now, before, 'pando.cache.misses{level=leaf}');
    return hits + misses > 0 ? hits / (hits + misses) : null;
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

  // What lies where.

  const held = panel('What caches hold');
  const heldBody = held.section.appendChild(element('div'));

  function tellHeld(now) {
    const all = now.meters['pando.cache.bytes'];
    held.section.hidden = all === undefined;
    held.note.textContent = said(bytes, all);
    const shares = ['records', 'deltas', 'images', 'directory', 'blocks', 'labels']
      .map((of, i) => [of, now.meters[`pando.cache.share.bytes{of=${of}}`], `var(--c${i})`])
      .filter(([, share]) => share !== undefined);
    const rows = [
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
      ['bytes of the index in the pool', 'pando.index.bytes', bytes],
      ['bytes of values beside it', 'pando.value.bytes', bytes],
    ].filter(([, id]) => id in now.meters);
    const table = element('table');
    for (const [name, id, format = count] of rows) {
      const row = table.insertRow();
      row.append(element('th', '', name));
      row.insertCell().textContent = format(now.meters[id]);
    }
    heldBody.replaceChildren(...(shares.length > 0 ? parts('memory given to', shares) : []), table);
  }

  /** A bar of parts, and what each is. */
  function parts(name, shares) {
    const label = element('div', 'bar-label');
    label.append(name);
    const bar = element('div', 'bar thin');
    const legend = element('ul', 'legend');
    for (const [of, share, background] of shares) {
      const part = bar.appendChild(element('div'));
      part.style.flexGrow = share;
      part.style.background = background;
      const {item, value} = entry(of, background);
      value.textContent = bytes(share);
      legend.append(item);
    }
    return [label, bar, legend];
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

  function tellPartitions(now) {
    partitions.section.hidden = now.partitions.length === 0;
    partitions.note.textContent = `${now.partitions.length} ranges of keys, in order`;
    const bar = element('div', 'bar');
    const legend = element('ul', 'legend');
    for (const {server, here, share} of now.partitions) {
      const part = bar.appendChild(element('div', here ? '' : 'away'));
      part.style.flexGrow = share;
      part.style.background = ofServer(server);
      part.title = `compute server ${server}: ${percent(share)}`;
      const {item, value} = entry(`compute server ${server}`, ofServer(server));
      value.textContent = percent(share) + (here ? '' : ', in another process');
      legend.append(item);
    }
    partitionsBody.replaceChildren(bar, legend);
  }

  // Events.

  const state = document.getElementById('state');

  function become(className, text) {
    state.className = className;
    state.textContent = text;
  }

  let last = null;

  function take(now) {
    if (!now.meters) {
      become('', 'nothing is shown yet');
      return;
    }
    const same = last && last.opened === now.opened && now.millis > last.millis;
    const before = same && now.millis - last.millis < 5_000 ? last : null;
    become(now.closed ? 'lost' : 'live', now.closed ? 'closed' : 'live');
    document.getElementById('what').textContent = `${now.system} over ${now.fabric}`;
    document.title = `Pando: ${now.system}`;
    if (now.millis / 1e3 > (seconds.at(-1) ?? 0)) {
      seconds.push(now.millis / 1e3);
      seconds.splice(0, seconds.length - POINTS_MAX);
      charts.forEach(chart => chart.take(now, before));
    }
    tellCosts(now, before);
    tellHeld(now);
    tellCommands(now, before);
    tellServers(now);
    tellPartitions(now);
    last = now;
  }

  const events = new EventSource('/events');
  events.onmessage = event => take(JSON.parse(event.data));
  events.onerror = () => become('lost', 'disconnected, trying again');
  matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => charts.forEach(chart => chart.plot?.redraw()));
})();
