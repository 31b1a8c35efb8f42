// Shows the interface's description with Swagger UI; requests are tried at the address under which this page was opened.

const root = new URL('../../', import.meta.url);
const dark = matchMedia('(prefers-color-scheme: dark)');

const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const servers = document.body.dataset.mounts.split(' ').map((mount) => ({ url: `${new URL(mount, root).href}/` }));
// With what the plain document leaves out: how to create records.
const answer = await fetch(`${servers[0].url}doc?complete=1`);
const description = await answer.json();

SwaggerUIBundle({
  spec: { ...description, servers },
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
