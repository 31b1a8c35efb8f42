// Shows the state of the replica and of the CMS, refreshed while the page is visible; notifies the calendar of changed records.

import { cacheBuster, statusUrl } from './api.mjs';

const INTERVAL_MS = 5_000;
const STATES = {
  empty: ['waiting', 'Replica: empty'],
  syncing: ['waiting', 'Replica: initial sync'],
  live: ['good', 'Replica: up to date'],
  stale: ['waiting', 'Replica: stale'],
  unreachable: ['bad', 'Replica: serving, the CMS is unreachable'],
};

const element = (id) => document.querySelector(`#${id}`);

/** Leaves equal text alone: a screen reader announces every change. */
function setText(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

function show({ replica, cms, counts }) {
  const [state, text] = STATES[replica.state] ?? ['waiting', `Replica: ${replica.state}`];
  const percent = Math.floor(replica.percent);
  const isComplete = percent >= 100;
  element('replica-dot').dataset.state = state;
  setText('replica-text', isComplete ? text : `${text}, ${percent} %`);
  element('replica-progress').hidden = isComplete;
  element('replica-progress').value = percent;
  element('cms-dot').dataset.state = cms.reachable ? 'good' : 'bad';
  setText('cms-text', cms.reachable ? 'CMS: reachable' : 'CMS: unreachable; reads continue');
  const totals = Object.entries(counts).map(([name, count]) => `${count.toLocaleString()} ${nounFor(name, count)}`);
  setText('counts', totals.join(', '));
}

const nounFor = (name, count) => (count === 1 ? name.replace(/ies$/, 'y').replace(/s$/, '') : name);

async function refresh() {
  if (document.hidden) return;
  try {
    const response = await fetch(statusUrl);
    const status = await response.json();
    show(status);
    const previous = cacheBuster.version;
    cacheBuster.version = status.version;
    const changed = previous !== undefined && previous !== status.version;
    document.dispatchEvent(new CustomEvent('status-refreshed', { detail: { changed } }));
  } catch {
    element('replica-dot').dataset.state = 'bad';
    element('replica-progress').hidden = true;
    setText('replica-text', 'The gateway does not respond');
    element('cms-dot').dataset.state = 'waiting';
    setText('cms-text', 'CMS: unknown');
  }
}

document.addEventListener('visibilitychange', refresh);
setInterval(refresh, INTERVAL_MS);

/** Resolves after the first refresh, whether or not it succeeded. */
export const firstRefresh = refresh();
