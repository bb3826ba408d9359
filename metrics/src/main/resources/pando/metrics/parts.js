const POINTS_MAX = 600; // ten minutes
const WINDOW_MIN = 60; // seconds that a chart shows at the least
const CHART_HEIGHT = 150;

// Numbers as people read them.

const grouped = (number, digits = 0) =>
  number.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});

function scaled(number, base, units) {
  let power = 0;
  while (Math.abs(number) >= base && power < units.length - 1) {
    number /= base;
    power++;
  }
  const digits = Number.isInteger(number) || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return number.toFixed(digits) + (units[power] && ' ' + units[power]);
}
const bytes = number => scaled(number, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const count = number => grouped(number, Number.isInteger(number) || Math.abs(number) >= 10 ? 0 : 2);
const percent = share => grouped(100 * share, 1) + ' %';
const time = seconds =>
  seconds < 1e-6 ? (seconds * 1e9).toFixed(0) + ' ns'
    : seconds < 1e-3 ? (seconds * 1e6).toFixed(1) + ' µs'
      : seconds < 1 ? (seconds * 1e3).toFixed(1) + ' ms'
        : grouped(seconds, 1) + ' s';
/** The two largest units of a time in which something runs. */
function duration(seconds) {
  const units = [[86_400, 'd'], [3_600, 'h'], [60, 'min'], [1, 's']];
  const first = Math.max(0, units.findIndex(([size]) => seconds >= size));
  const said = units.slice(seconds < 1 ? 3 : first).slice(0, 2).map(([size, unit], i, [[larger]]) =>
    `${Math.floor((i === 0 ? seconds : seconds % larger) / size)} ${unit}`);
  return said.join(' ');
}
const said = (format, number) => (number == null ? '–' : format(number));
const clock = seconds => new Date(seconds * 1e3).toTimeString().slice(0, 8);

/** What an axis has in little room, and where its ticks are. */
const short = new Map([[count, number => scaled(number, 1e3, ['', 'k', 'M', 'G', 'T'])]]);
const ticks = new Map([[bytes, Array.from({length: 50}, (_, power) => 2 ** power)]]);

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

/** A word, and what it means, if it needs to be said: to a pointer, a finger, or the keyboard. */
function term(name, meaning = TERMS[name]) {
  const made = element('span', meaning ? 'term' : '', name);
  if (meaning) {
    made.tabIndex = 0;
    made.dataset.meaning = meaning;
    made.setAttribute('aria-describedby', 'tip');
  }
  return made;
}

const tip = document.getElementById('tip');

function explain(of) {
  tip.hidden = of === null;
  if (of) {
    tip.textContent = of.dataset.meaning;
    const at = of.getBoundingClientRect();
    const {width, height} = tip.getBoundingClientRect();
    const isBelow = at.bottom + height + 12 < innerHeight;
    tip.style.left = Math.max(8, Math.min(at.left, innerWidth - width - 8)) + 'px';
    tip.style.top = (isBelow ? at.bottom + 6 : Math.max(8, at.top - height - 6)) + 'px';
  }
}

for (const kind of ['pointerover', 'focusin', 'click']) {
  document.addEventListener(kind, event => explain(event.target.closest?.('.term') ?? null));
}
document.addEventListener('focusout', () => explain(null));
document.addEventListener('scroll', () => explain(null), true);
document.addEventListener('keydown', event => event.key === 'Escape' && explain(null));

function panel(title, className) {
  const section = element('section', className);
  const head = element('div', 'head');
  const heading = element('h2');
  const note = element('span', 'note');
  heading.append(term(title));
  head.append(heading, note);
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
  item.append(swatch, term(name), ' ', value);
  return {item, value};
}

/** Names and what they have, made once and changed in place, so that the focus stays. */
class Facts {
  constructor(place) {
    this.place = place;
    this.rows = new Map();
  }

  /** Shows a text, or nothing where there is none. */
  tell(name, text, className = '') {
    let row = this.rows.get(name);
    if (!row) {
      row = element('div');
      const value = element('dd');
      const label = element('dt');
      label.append(term(name));
      row.append(label, value);
      this.place.append(row);
      this.rows.set(name, Object.assign(row, {value}));
    }
    row.hidden = text == null;
    row.value.className = className;
    if (row.value.textContent !== (text ?? '')) {
      row.value.textContent = text ?? '';
    }
  }
}

/** The rows of a table, each of as many texts, or nodes, as it has columns. */
class Table {
  constructor(place, columns) {
    this.columns = columns;
    const table = place.appendChild(element('table', 'list'));
    const head = table.createTHead().insertRow();
    for (const column of columns) {
      const cell = element('th');
      cell.scope = 'col';
      cell.append(term(column));
      head.append(cell);
    }
    this.body = table.createTBody();
  }

  tell(rows) {
    this.body.replaceChildren();
    for (const cells of rows) {
      const row = this.body.insertRow();
      cells.forEach((cell, i) => {
        const made = row.insertCell();
        made.dataset.name = this.columns[i];
        made.append(cell);
      });
    }
  }
}

const summary = new Facts(document.getElementById('summary'));

// Charts of what changes.

const seconds = [];

/** Lines over time; each takes its number from what came last, and what came before. */
class Chart {
  constructor(title, format, lines, {logarithmic, most} = {}) {
    Object.assign(this, panel(title), {format, logarithmic, most});
    this.lines = [];
    this.legend = element('ul', 'legend');
    this.place = element('div');
    this.section.append(this.legend, this.place);
    lines.forEach(([name, read], i) => this.add(name, read, () => colour(`--c${i}`), `var(--c${i})`));
  }

  add(name, read, stroke, background) {
    const {item, value} = entry(name, background);
    this.lines.push({name, read, stroke, value, values: seconds.slice(0, -1).map(() => null)});
    this.legend.append(item);
    this.plot?.destroy();
    this.plot = undefined;
  }

  /** Takes numbers, and shows nothing yet. */
  take(now, before) {
    for (const line of this.lines) {
      line.values.push(line.read(now, before));
      line.values.splice(0, line.values.length - seconds.length);
    }
  }

  draw() {
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
    const axis = {stroke: () => colour('--quiet'), ticks: {show: false}, font: '12px system-ui, sans-serif'};
    const grid = {stroke: () => colour('--line'), width: 1};
    if (this.logarithmic) {
      grid.filter = (_, ticks) => ticks.map(tick => (isPowerOfTen(tick) ? tick : null));
    }
    const label = short.get(this.format) ?? this.format;
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
          {...axis, grid: {show: false}, space: 90, size: 28, values: (_, ticks) => ticks.map(clock)},
          {
            ...axis, grid, size: 68, space: 34,
            ...(ticks.has(this.format) ? {incrs: ticks.get(this.format)} : {}),
            // On a logarithmic axis, ticks between powers of ten are null.
            values: (_, ticks) => ticks.map(tick => (tick == null ? '' : label(tick))),
          },
        ],
        series: [{}, ...this.lines.map(({stroke}) => ({stroke, width: 2, points: {show: false}}))],
        hooks: {setCursor: [plot => this.tell(plot.cursor.idx)]},
      },
      this.data(),
      this.place);
    this.watch ??= new ResizeObserver(() =>
      this.plot?.setSize({width: this.place.clientWidth, height: CHART_HEIGHT}));
    this.watch.observe(this.place);
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
