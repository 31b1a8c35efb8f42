// Shows the OpenAPI document with Swagger UI; requests go to the host of this page.

const root = new URL('../../', import.meta.url);
const dark = matchMedia('(prefers-color-scheme: dark)');

const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const servers = document
  .querySelector('#main')
  .dataset.mounts.split(' ')
  .map((mount) => ({ url: `${new URL(mount, root).href}/` }));

/** Includes the create routes, which the default document omits. */
async function fetchDocument() {
  const response = await fetch(`${servers[0].url}doc?complete=1`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/**
 * Swagger UI would fill in the first example of every parameter. The descriptions name the examples instead. For an
 * object without an example, Swagger UI would make up one.
 */
function describeExamples(document) {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const parameter of operations.flatMap(({ parameters }) => parameters)) {
    if (parameter.schema.type === 'object') parameter.example = {};
    if (!parameter.examples) continue;
    const values = Object.values(parameter.examples).map(({ value }) => `\`${value}\``);
    parameter.description += `, for example ${values.join(', ')}`;
    delete parameter.examples;
  }
  return document;
}

// Swagger UI takes the fragment for one of its operations.
document.querySelector('.skip').addEventListener('click', () => document.querySelector('#main').focus());

const container = document.querySelector('#interface');

/** The label of a control, derived from its position: Swagger UI labels only a few. */
function labelOf(control) {
  const row = control.closest('tr[data-param-name]');
  if (row) return row.dataset.paramName;
  if (control.closest('.servers')) return 'Server';
  return control.closest('.opblock-section-request-body') ? 'Type of the body' : 'Type of the response';
}

const UNLABELLED = 'select:not([aria-label]), tr[data-param-name] textarea:not([aria-label])';

new MutationObserver(() => {
  for (const control of container.querySelectorAll(UNLABELLED)) control.ariaLabel = labelOf(control);
}).observe(container, { childList: true, subtree: true });

/**
 * Swagger UI resolves an operation some time after it has shown the button that executes it. If the button is pressed
 * before, the operation is empty and no request is sent. The document has no references there, so its own operation
 * is the same.
 */
const executeUnresolved = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        executeRequest:
          (execute, { specSelectors }) =>
          ({ operation, ...request }) =>
            execute({
              ...request,
              operation: operation.get('operationId')
                ? operation
                : specSelectors.specJson().getIn(['paths', request.pathName, request.method]),
            }),
      },
    },
  },
});

/**
 * A closed padlock says that an operation needs a login. Swagger UI closes it if the caller has what one of the
 * alternatives asks for: reads, which are also for callers without a login, would always be closed, and writes only
 * after the login.
 */
const padlocks = () => ({
  statePlugins: {
    auth: {
      wrapSelectors: {
        isAuthorized: () => (_state, alternatives) => alternatives.every((schemes) => schemes.size > 0),
      },
    },
  },
});

try {
  SwaggerUIBundle({
    spec: { ...describeExamples(await fetchDocument()), servers },
    dom_id: '#interface',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    filter: true,
    validatorUrl: null,
    plugins: [executeUnresolved, padlocks],
    persistAuthorization: false,
  });
} catch (error) {
  document.querySelector('.waiting').textContent = `The description could not be read: ${error.message}`;
}
