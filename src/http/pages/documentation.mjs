// Shows the interface's description with Swagger UI; requests are tried at the address under which this page was opened.

const root = new URL('../../', import.meta.url);
const dark = matchMedia('(prefers-color-scheme: dark)');

const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const servers = document.body.dataset.mounts.split(' ').map((mount) => ({ url: `${new URL(mount, root).href}/` }));

/** With what the plain document leaves out: how to create records. */
async function description() {
  const answer = await fetch(`${servers[0].url}doc?complete=1`);
  if (!answer.ok) throw new Error(`answered with ${answer.status}`);
  return answer.json();
}

const place = document.querySelector('#interface');

/** What a list of choices is for, by where it stands: Swagger UI gives most of its lists no name. */
function choiceName(select) {
  const row = select.closest('tr[data-param-name]');
  if (row) return row.dataset.paramName;
  if (select.closest('.servers')) return 'Server';
  return select.closest('.opblock-section-request-body') ? 'Type of the body' : 'Type of the answer';
}

new MutationObserver(() => {
  for (const select of place.querySelectorAll('select:not([aria-label])')) select.ariaLabel = choiceName(select);
}).observe(place, { childList: true, subtree: true });

try {
  SwaggerUIBundle({
    spec: { ...(await description()), servers },
    dom_id: '#interface',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    filter: true,
    validatorUrl: null,
    persistAuthorization: false,
  });
} catch (error) {
  document.querySelector('.waiting').textContent = `The description could not be read: ${error.message}`;
}
