// The state of the copy and of the CMS, asked again and again while the page is seen; tells the calendar when records changed.

import { statusUrl } from './interface.mjs';

const INTERVAL_MS = 5_000;
const STATES = {
  empty: ['waiting', 'Copy: not begun'],
  copying: ['waiting', 'Copy: being made'],
  live: ['good', 'Copy: up to date'],
  lagging: ['waiting', 'Copy: behind'],
  away: ['bad', 'Copy: kept while the CMS is away'],
};

const part = (id) => document.querySelector(`#${id}`);
let version;

function show({ copy, cms, counts }) {
  const [state, text] = STATES[copy.state] ?? ['waiting', `Copy: ${copy.state}`];
  const percent = Math.floor(copy.percent);
  const whole = percent >= 100;
  part('copy-dot').dataset.state = state;
  part('copy-text').textContent = whole ? text : `${text}, ${percent} %`;
  part('copy-progress').hidden = whole;
  part('copy-progress').value = percent;
  part('cms-dot').dataset.state = cms.reachable ? 'good' : 'bad';
  part('cms-text').textContent = cms.reachable ? 'CMS: reachable' : 'CMS: not reachable; reading goes on';
  const numbers = Object.entries(counts).map(([name, count]) => `${count.toLocaleString()} ${counted(name, count)}`);
  part('counts').textContent = numbers.join(', ');
}

const counted = (name, count) => (count === 1 ? name.replace(/ies$/, 'y').replace(/s$/, '') : name);

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(statusUrl);
    const status = await answer.json();
    show(status);
    if (version !== undefined && status.version !== version) document.dispatchEvent(new Event('records-changed'));
    version = status.version;
  } catch {
    part('copy-dot').dataset.state = 'bad';
    part('copy-text').textContent = 'The gateway does not answer';
  }
}

document.addEventListener('visibilitychange', refresh);
setInterval(refresh, INTERVAL_MS);
refresh();
