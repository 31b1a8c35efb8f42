// The state of the copy and of the CMS, asked again and again while the page is seen; tells the calendar, and whether records changed.

import { seen, statusUrl } from './interface.mjs';

const INTERVAL_MS = 5_000;
const STATES = {
  empty: ['waiting', 'Copy: not begun'],
  copying: ['waiting', 'Copy: being made'],
  live: ['good', 'Copy: up to date'],
  lagging: ['waiting', 'Copy: behind'],
  away: ['bad', 'Copy: kept while the CMS is away'],
};

const part = (id) => document.querySelector(`#${id}`);

/** Only what is new: a screen reader tells every change. */
function write(id, text) {
  if (part(id).textContent !== text) part(id).textContent = text;
}

function show({ copy, cms, counts }) {
  const [state, text] = STATES[copy.state] ?? ['waiting', `Copy: ${copy.state}`];
  const percent = Math.floor(copy.percent);
  const whole = percent >= 100;
  part('copy-dot').dataset.state = state;
  write('copy-text', whole ? text : `${text}, ${percent} %`);
  part('copy-progress').hidden = whole;
  part('copy-progress').value = percent;
  part('cms-dot').dataset.state = cms.reachable ? 'good' : 'bad';
  write('cms-text', cms.reachable ? 'CMS: reachable' : 'CMS: not reachable; reading goes on');
  const numbers = Object.entries(counts).map(([name, count]) => `${count.toLocaleString()} ${counted(name, count)}`);
  write('counts', numbers.join(', '));
}

const counted = (name, count) => (count === 1 ? name.replace(/ies$/, 'y').replace(/s$/, '') : name);

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(statusUrl);
    const status = await answer.json();
    show(status);
    const before = seen.version;
    seen.version = status.version;
    const changed = before !== undefined && before !== status.version;
    document.dispatchEvent(new CustomEvent('status-asked', { detail: { changed } }));
  } catch {
    part('copy-dot').dataset.state = 'bad';
    part('copy-progress').hidden = true;
    write('copy-text', 'The gateway does not answer');
    part('cms-dot').dataset.state = 'waiting';
    write('cms-text', 'CMS: not known');
  }
}

document.addEventListener('visibilitychange', refresh);
setInterval(refresh, INTERVAL_MS);

/** Settles when the state was asked for once, whatever came of it. */
export const asked = refresh();
