// Mutants of the HTTP layer: caching, fast path, routes.

import { type Mutant, mutantsOf } from './mutant.ts';

export const HTTP_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/http/headers.ts', 'test/http/cors.test.ts', {
    'only scripts of allowed origins read responses': {
      function: 'createCors',
      code: '(_1.length > 0 && !_1.includes(_2))',
      replacement: 'false',
      title: 'lets only these origins read',
    },
    'no browser asks its user for a password': {
      function: 'challengeHeaders',
      code: "_1.origin !== undefined || _1['sec-fetch-mode'] !== undefined",
      replacement: 'false',
      title: 'asks for a login with a 401',
    },
  }),
  ...mutantsOf('src/http/state.ts', 'test/faults/limits.test.ts', {
    'only a valid request id is kept': {
      function: 'nextRequestId',
      code: '&& VALID_ID.test(_1)',
      title: 'on request ids: a valid one is kept, in the response and for the CMS',
    },
  }),
  ...mutantsOf('src/http/admin.ts', 'test/http/admin.test.ts', {
    '/ready?strict=1 requires a replica in sync': {
      function: 'createAdmin',
      code: "&& (_1.get('strict') !== '1' || _2.isLive())",
    },
  }),
  ...mutantsOf('src/http/auth.ts', 'test/http/auth.test.ts', {
    'credentials are kept as keyed hashes alone': {
      function: 'authenticate',
      code: "createHmac('sha256', this.#hashKey).update(_1).digest('base64')",
      replacement: '_1',
      test: 'test/process/memory.test.ts',
    },
    'invalid credentials are rejected': {
      function: 'authenticate',
      code: "if (_1.kind === 'rejected') throw _1.error;",
      replacement: "if (_1.kind === 'rejected') return { credentials: undefined, account: undefined };",
      test: 'test/faults/limits.test.ts',
      title: 'on logins',
    },
    'guesses are counted': {
      code: "_1 ? 'failed' : 'unknown'",
      replacement: "'unknown'",
      test: 'test/faults/limits.test.ts',
      title: 'on logins',
    },
    'rejected logins are cached for a shorter time than accepted ones': {
      code: "_1.kind === 'rejected' ? REJECTED_CACHED_MS :",
      title: 'once in five seconds',
    },
    'a failing counter does not reject a login': {
      code: '.catch(() => undefined);',
      replacement: ';',
      title: 'cannot store a failure',
    },
    'credentials that are new from an address have their own bulkhead': {
      code: "_1.isTrusted ? 'callers' : 'logins'",
      replacement: "'callers'",
      title: 'have their own bulkhead',
    },
  }),
  ...mutantsOf('src/http/error-handler.ts', 'test/faults/raw-http.test.ts', {
    'client aborts are not logged as failures': {
      function: 'isClientAbort',
      code: 'return _1 instanceof Error && CLIENT_ABORTS.test(String(_2 ?? _3));',
      replacement: 'return _2 === _3 && CLIENT_ABORTS.test(String(_1)) && false;',
      title: 'survives two thousand client aborts',
    },
  }),
  ...mutantsOf('src/http/headers.ts', 'test/http/protocol.test.ts', {
    nosniff: { code: "'X-Content-Type-Options': 'nosniff'," },
  }),
  ...mutantsOf('src/http/idempotency.ts', 'test/http/idempotency.test.ts', {
    'a create with a key is sent only by the gateway that holds the key': {
      code: 'if (_1) throw createInProgress();',
      title: 'another gateway took its key over',
    },
    'an Idempotency-Key belongs to one body': {
      function: 'createOnce',
      code: 'if (_1.fingerprint !== _2.fingerprint) throw keyReused();',
      title: 'another body is 422',
    },
  }),
  ...mutantsOf('src/cms/wordpress/wordpress.ts', 'test/http/auth.test.ts', {
    'credentials that PHP parses differently do not reach the CMS': {
      function: 'readLogin',
      code: "_1.toString('base64') === _2 &&",
      title: 'without a CMS call',
    },
  }),
  ...mutantsOf('src/http/read-request.ts', 'test/interface/limits.test.ts', {
    'length of values on any route': {
      function: 'mount',
      code: 'checkLengths([_1.query]);',
      title: 'apply to rest_route before routing',
    },
  }),
  ...mutantsOf('src/http/read-body.ts', 'test/interface/limits.test.ts', {
    'size of the body of a read': {
      code: 'READ_METHODS.has(_1.method) ? ',
      replacement: 'false ? ',
      title: 'if a method override makes the request a read',
    },
  }),
  ...mutantsOf('src/http/read-body.ts', 'test/http/request-body.test.ts', {
    'pieces of a body': { code: 'limitPieces(_1.req);', title: 'may arrive in 2,500 pieces' },
  }),
  ...mutantsOf('src/http/consistency-token.ts', 'test/http/request-polls.test.ts', {
    'polls for requests are a second apart': {
      function: 'createRequestPolls.pollNext',
      code: 'Math.max(0, _1 + POLL_INTERVAL_MS - _2.nowMs())',
      replacement: '0',
    },
    'polls for requests do not shorten a pause': {
      function: 'createRequestPolls',
      code: 'if (_1.state().failures > 0) return false;',
    },
  }),
  ...mutantsOf('src/http/pages/pages.ts', 'test/http/pages/pages.test.ts', {
    'a content security policy on pages': {
      function: 'setPageHeaders',
      code: "_1.set('Content-Security-Policy', POLICY);",
    },
  }),
  ...mutantsOf('src/http/pages/pages.ts', 'test/http/pages/languages.test.ts', {
    'caches keep the languages of a page apart': {
      function: 'createLandingPages.brandForVisitor',
      code: "_1.vary('Accept-Language');",
    },
  }),
  ...mutantsOf('src/http/pages/landing.ts', 'test/http/pages/languages.test.ts', {
    'a rendered page is for one language': {
      function: 'page',
      code: 'JSON.stringify(_1()), _2,',
      replacement: 'JSON.stringify(_1()),',
    },
  }),
  ...mutantsOf('src/http/pages/json-ld-template.ts', 'test/http/pages/landing-contents.test.ts', {
    'no text ends the data block of a page': {
      function: 'jsonLdScript',
      code: ".replaceAll('<', '\\\\u003c')",
      title: 'run no script',
    },
  }),
  ...mutantsOf('src/calendar/read-post.ts', 'test/calendar/list-filters.test.ts', {
    'an embedded record is readable by slug to actors who see an event with it': {
      function: 'referenceChecks.slugExists',
      code: '&& mayKnow(_1, _2, _3)',
      title: 'an embedded venue',
    },
  }),
  ...mutantsOf('src/http/read-request.ts', 'test/faults/raw-http.test.ts', {
    'length of a URL': {
      function: 'rejectMalformed',
      code: 'if (_1.url.length > _2)',
      replacement: 'if (false)',
      title: 'an address beyond',
    },
  }),
  ...mutantsOf('src/http/response-cache.ts', 'test/http/cached-visibility.test.ts', {
    'a request with credentials gets no cached response': {
      function: 'dependsOnUrlAlone',
      code: '!namesCaller(_1) &&',
    },
    'a request with a chunked body gets no cached response': {
      function: 'dependsOnUrlAlone',
      code: "&&\n_1['transfer-encoding'] === undefined",
    },
    'a request with a body gets no cached response': {
      function: 'dependsOnUrlAlone',
      code: "(_1['content-length'] === undefined || _1['content-length'] === '0') &&",
    },
    'a change of the replica invalidates cached responses': {
      function: 'get',
      code: '_1.replicaVersion !== _2 ||',
    },
  }),
  ...mutantsOf('src/http/mcp/mcp.ts', 'test/http/mcp/mcp.test.ts', {
    'scripts of other origins call no tool': {
      code: '_1 !== undefined && !_2.has(_1)',
      replacement: 'false',
      title: 'scripts of allowed origins',
    },
  }),
  ...mutantsOf('src/http/mcp/server.ts', 'test/http/mcp/mcp.test.ts', {
    'tools write only if the setting says so': {
      function: 'createMcpServer',
      code: "_1.config.mcp === 'write'",
      replacement: 'true',
      title: 'writes only if the setting says so',
    },
    'a tool has no arguments but its own': {
      code: 'if (!_1(_2))',
      replacement: 'if (false)',
      title: 'get errors of the tool',
    },
    'an unexpected error of a tool keeps its message': {
      function: 'createMcpServer',
      code: 'const { body } = errorResponse(_1);',
      replacement: 'const body = { message: String(_1) };',
      title: 'does not tell its message',
    },
  }),
  ...mutantsOf('src/http/mcp/server.ts', 'test/http/mcp/roles.test.ts', {
    "a tool has the caller's rights": {
      code: '...CALLER_HEADERS, ',
      title: 'list what the API lists',
    },
    'a try writes nothing': {
      function: 'createApiClient',
      code: 'dryRunSockets.add(_1);',
      test: 'test/http/mcp/mcp.test.ts',
      title: 'nothing with dry_run',
    },
    'a tool counts for the address of its caller': {
      code: 'Object.assign(_1, { remoteAddress: _2.socket.remoteAddress })',
      replacement: '_1',
      test: 'test/http/mcp/mcp.test.ts',
      title: 'rate limit of the client',
    },
  }),
  ...mutantsOf('src/http/endpoints.ts', 'test/calendar/image-fetcher.test.ts', {
    'length of values': {
      function: 'createEndpointRunner.runOperation',
      code: 'checkLengths([_1, _2, _3], _4.parameters);',
      test: 'test/interface/limits.test.ts',
      title: 'before anything reads it',
    },
    'ids in one parameter': {
      function: 'createEndpointRunner.runOperation',
      code: 'rejectLongLists(_1, { ..._2, ..._3 }, _4.idsPerParameter);',
      test: 'test/faults/limits.test.ts',
      title: 'rejects too many values in one parameter',
    },
    'a request releases its images': { function: 'createEndpointRunner', code: '_1.release();' },
  }),
  ...mutantsOf('src/http/cached-reads.ts', 'test/http/visibility.test.ts', {
    'only a response that the URL alone determines is public': {
      function: 'cachedReads.compute',
      code: '|| !dependsOnUrlAlone(_1)',
      title: 'no cache may store',
    },
  }),
];
