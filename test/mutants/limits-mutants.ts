// Mutants of the limits on clients: sizes, rates, logins, addresses, load shedding.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources.

import { type Mutant, mutantsOf } from './mutant.ts';

export const LIMITS_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/http/client-address.ts', 'test/faults/limits.test.ts', {
    'only what the proxy appends to X-Forwarded-For is trusted': {
      function: 'createClientAddress.isTrusted',
      code: '_1 !== true &&',
      title: 'on requests per address',
    },
    'forwarding headers are ignored without a trusted proxy': {
      function: 'createClientAddress',
      code: '|| !_1(_2)',
      title: 'ignore forwarding headers without a trusted proxy',
    },
  }),
  ...mutantsOf('src/http/load-shedding.ts', 'test/http/load-shedding.test.ts', {
    'load shedding under overload': { function: 'createOverloadCheck', code: '> _1;', replacement: '> 1e9;' },
    'concurrent bodies': { function: 'loadShedding', code: 'if (!_1.tryTake(_2)) throw OVERLOADED_WITH_BODY;' },
    'a finished body no longer counts': { function: 'loadShedding', code: "_1.once('close', () => _2.release(_3));" },
  }),
  ...mutantsOf('src/http/login-limit.ts', 'test/http/login-limit.test.ts', {
    'guesses at one user are counted together': {
      function: 'startPassword',
      code: '{ counter: this.#byUser, key: _1, limit: failedLoginsPerUser },\n]',
      replacement: ']',
    },
    'guesses from one address are counted together': {
      function: 'startPassword',
      code: '{ counter: this.#byNetwork, key: _1, limit: failedLoginsPerAddress },',
    },
    'concurrent guesses are counted': {
      function: 'startPassword',
      code: 'if (_1.length > 0) {',
      replacement: 'if (false) {',
      test: 'test/faults/limits.test.ts',
      title: 'slow down guesses from one address at any user, also concurrent ones',
    },
    'letter case makes no new count': {
      function: 'start',
      code: 'accountKey(_1) ?? _1',
      replacement: '_1',
      title: 'in lower case',
    },
    'guesses are counted per IPv6 network': {
      function: 'start',
      code: 'network48Of(_1)',
      replacement: '_1',
      title: '/48',
    },
  }),
  ...mutantsOf('src/interface/errors.ts', 'test/faults/limits.test.ts', {
    '429 has Retry-After': {
      function: 'tooManyRequests',
      code: "'Retry-After': String(_1),",
      title: 'on requests per address',
    },
    '429 has the rate limit headers': {
      function: 'tooManyRequests',
      code: 'RateLimit: `"minute";r=0;t=${_1}`,',
      test: 'test/http/rate-limit.test.ts',
    },
  }),
  ...mutantsOf('src/http/client-limits.ts', 'test/faults/limits.test.ts', {
    'rate limit of one address': {
      function: 'tryConsume',
      code: 'if (_1.requests >= this.#requestsPerMinute)',
      replacement: 'if (false)',
      title: 'on requests per address',
    },
  }),
  ...mutantsOf('src/http/read-body.ts', 'test/interface/limits.test.ts', {
    'size of bodies': {
      function: 'createBodyReader.parserOf',
      code: 'textLimit: `${_1}b`',
      replacement: "textLimit: '1gb'",
      test: 'test/faults/limits.test.ts',
      title: 'on bodies',
    },
    'number of values in a body': {
      function: 'parseJsonBody',
      code: "if (hasTooManyValues(_1)) throw tooLarge('too many values in a body');",
      title: 'number of JSON values before parsing',
    },
    'number of parts in a body': {
      function: 'multipart',
      code: 'rejectManyParts(_1, _2);',
      title: 'number of parts and of their header lines',
    },
    'an unpaired surrogate is rejected': {
      function: 'assertWellFormed',
      code: "if (!_1.isWellFormed()) throw invalidJson(undefined, 'utf16');",
      test: 'test/interface/malformed-values.test.ts',
      title: 'half a surrogate pair',
    },
    'depth of JSON': {
      function: 'sanitize',
      code: 'if (_1 === 0)',
      replacement: 'if (false)',
      test: 'test/faults/limits.test.ts',
      title: 'rejects bodies nested too deeply, and accepts the maximum depth',
    },
    'no key of a body pollutes a prototype': {
      function: 'sanitize',
      code: '.filter(([_1]) => !INHERITED_NAMES.has(_1))',
      test: 'test/http/request-body.test.ts',
    },
  }),
  ...mutantsOf('src/http/client-limits.ts', 'test/http/server.test.ts', {
    'share of one address': {
      function: 'tryTake',
      code: '|| (!_1 && _2 >= Math.ceil(this.#total / SHARES))',
      title: 'a tenth of all',
    },
  }),
  ...mutantsOf('src/http/server.ts', 'test/faults/raw-http.test.ts', {
    'size of headers': {
      function: 'openServer',
      code: 'maxHeaderSize: _1.headerBytes,',
      test: 'test/faults/limits.test.ts',
      title: 'on the size of headers, in total and of one',
    },
    'time for the headers of a request': {
      function: 'openServer',
      code: 'const _1 = Math.min(_2.headersTimeoutMs, _3);',
      replacement: 'const _1 = _3;',
      test: 'test/faults/limits.test.ts',
      title: 'on the time to send headers: 408, then the connection is closed',
    },
    'timeout of a whole request': {
      function: 'openServer',
      code: 'requestTimeout, keepAliveTimeout,',
      replacement: 'requestTimeout: 0, keepAliveTimeout,',
      title: 'body for ever',
    },
    'clients that do not read': {
      function: 'openServer',
      code: '_1.timeout = STALL_FACTOR * _2;',
      test: 'test/http/server.test.ts',
      title: 'does not read',
    },
    'strict HTTP parsing': {
      function: 'openServer',
      code: 'maxHeaderSize: _1.headerBytes,',
      replacement: 'maxHeaderSize: _1.headerBytes,\n    insecureHTTPParser: true,',
      title: 'rejects',
    },
    'shutdown answers requests that have arrived': {
      function: 'openServer.close',
      code: '_1 < ARRIVAL_TURNS',
      replacement: 'turn < 0',
      test: 'test/http/server.test.ts',
      title: 'answers requests that arrive at the same time',
    },
    'shutdown waits for requests in flight': {
      function: 'openServer.close',
      code: 'await _1;',
      replacement: 'server.closeAllConnections();\n    await _1;',
      test: 'test/process/serve.test.ts',
      title: 'finishes all requests',
    },
    'shutdown waits at most drainMs': {
      function: 'openServer.close',
      code: '_1.closeAllConnections(), _2.drainMs',
      replacement: '{}, _2.drainMs',
      test: 'test/process/serve.test.ts',
      title: 'after the drain time',
    },
  }),
  ...mutantsOf('src/http/connections.ts', 'test/http/server.test.ts', {
    connections: {
      code: 'if (!this.#slots.tryTake(_1, this.#isProxy(_2))) return void _3.destroy();',
      replacement: 'this.#slots.tryTake(_1, true);',
      test: 'test/faults/limits.test.ts',
      title: 'on connections of one address: further ones are closed on arrival',
    },
    'idle connections make room': {
      code: 'if (this.#slots.isFull) this.#server.closeIdleConnections();',
      title: 'make room',
    },
    'number of pipelined requests': {
      code: 'readNoFurther(_1.socket, _2);',
      title: 'is the last of its connection',
    },
    'shutdown truncates no response': { code: 'this.#server.closeIdleConnections = () => {};' },
    'shutdown does not wait for idle keep-alive connections': {
      code: 'if (this.#isDraining && this.#unsent.size === 0) this.#server.closeAllConnections();',
      title: 'does not wait for idle',
    },
    'bytes that a network has left to receive': {
      code: 'if (_1 && !this.#isProxy(_2)) return void _3.socket.destroy();',
      title: '64 MB',
    },
    'a response during the shutdown closes its connection': {
      code: 'for (const _1 of this.#unsent.keys()) if (!_1.headersSent) _1.shouldKeepAlive = false;',
      title: 'carries out no request',
    },
    'a request during the shutdown is the last of its connection': {
      code: 'if (this.#isDraining) _1.shouldKeepAlive = false;',
      title: 'the last of its connection',
    },
  }),
];
