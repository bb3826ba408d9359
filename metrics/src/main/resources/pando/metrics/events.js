// Events.

const state = document.getElementById('state');

function become(className, text) {
  if (state.textContent !== text) {
    state.className = className;
    state.textContent = text;
  }
}

let last = null;

/** Takes the numbers of a second for the charts; returns those that they follow, if any do. */
function take(now) {
  if (last && last.opened === now.opened && now.millis <= last.millis) {
    return null; // sent again after the connection was lost
  }
  const before = last && last.opened === now.opened && now.millis - last.millis < 5_000 ? last : null;
  if (now.millis / 1e3 > (seconds.at(-1) ?? 0)) {
    seconds.push(now.millis / 1e3);
    seconds.splice(0, seconds.length - POINTS_MAX);
    addLines(now);
    charts.forEach(chart => chart.take(now, before));
  }
  last = now;
  return before;
}

function show(now) {
  if (!now.meters) {
    become('', 'nothing is shown yet');
    return;
  }
  const before = take(now);
  become(now.closed ? 'lost' : 'live', now.closed ? 'closed' : 'live');
  document.getElementById('what').textContent = now.cluster ? `a cluster with ${now.system}` : `${now.system} over ${now.fabric}`;
  document.title = `Pando: ${now.system}`;
  charts.forEach(chart => chart.draw());
  summary.tell('health', now.reasons.length === 0 ? 'healthy' : now.reasons.join('; '), now.reasons.length === 0 ? 'good' : 'bad');
  summary.tell('uptime', said(duration, now.meters['pando.uptime.seconds']));
  summary.tell('version', now.version);
  if (now.cluster) {
    tellCluster(now, before);
  } else {
    tellIndex(now, before);
  }
}

const events = new EventSource('/events');
events.addEventListener('past', event => take(JSON.parse(event.data)));
events.onmessage = event => show(JSON.parse(event.data));
events.onerror = () => become('lost', 'disconnected, trying again');
matchMedia('(prefers-color-scheme: dark)')
  .addEventListener('change', () => charts.forEach(chart => chart.plot?.redraw()));
