// The lines that protect, each with what it becomes when it is taken out and the test that must then fail.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines of the sources, not texts

export interface Protection {
  what: string;
  file: string;
  /** Occurs once in the file. */
  line: string;
  /** What stands there without it; nothing where absent. */
  without?: string;
  test: string;
  /** Part of the titles of the tests to run; all of the file where absent. */
  title?: string;
}

const LIMITS = 'src/http/limits.ts';
const FRONT = 'src/http/front.ts';
const ADDRESS = 'src/http/caller-address.ts';
const APP = 'src/http/app.ts';
const PORT = 'src/http/port.ts';
const BODY = 'src/http/body.ts';
const IDENTITY = 'src/http/identity.ts';
const CLIENT = 'src/upstream/client.ts';
const EXCHANGE = 'src/upstream/exchange.ts';
const GUARDS = 'src/upstream/protection.ts';
const IMAGE = 'src/upstream/fetch-image.ts';
const PUBLIC = 'src/upstream/public-address.ts';
const ANSWER = 'src/upstream/answer.ts';
const SERVE = 'src/cli/serve.ts';
const ADMISSION = 'src/http/admission.ts';

const PRIVACY = 'test/http/privacy.test.ts';
const ALL_LIMITS = 'test/faults/limits.test.ts';
const SOCKETS = 'test/faults/sockets.test.ts';
const WIRE = 'test/faults/upstream-faults.test.ts';
const CMS = 'test/faults/cms-faults.test.ts';
const IMAGES = 'test/upstream/fetch-image.test.ts';
const PUBLICS = 'test/upstream/public-address.test.ts';
const LANES = 'test/upstream/lanes.test.ts';
const UNKNOWN = 'test/calendar/unknown.test.ts';
const PROCESS = 'test/process/serve.test.ts';
const ENDS = 'test/http/port.test.ts';
const LOGINS = 'test/http/identity.test.ts';
const DOOR = 'test/http/admission.test.ts';

export const PROTECTIONS: Protection[] = [
  // Nobody sees what is not theirs.
  {
    what: 'only what is told to the anonymous is stored',
    file: APP,
    line: '!state.caller.account && ',
    test: PRIVACY,
  },
  {
    what: 'who comes with credentials is given nothing that is stored',
    file: FRONT,
    line: '    headers.authorization === undefined &&\n',
    test: PRIVACY,
  },
  {
    what: 'a body in chunks is part of the question',
    file: FRONT,
    line: " &&\n    headers['transfer-encoding'] === undefined",
    test: PRIVACY,
  },
  {
    what: 'a body with a length is part of the question',
    file: FRONT,
    line: "    (headers['content-length'] === undefined || headers['content-length'] === '0') &&\n",
    test: PRIVACY,
  },
  {
    what: 'what a change has made old is not given out',
    file: 'src/http/answer-cache.ts',
    line: 'answer.version === version && ',
    test: PRIVACY,
  },
  {
    what: 'credentials are kept as keyed hashes alone',
    file: IDENTITY,
    line: "createHmac('sha256', key).update(authorization!).digest('base64')",
    without: 'authorization!',
    test: 'test/process/memory.test.ts',
  },
  {
    what: 'wrong credentials are told',
    file: IDENTITY,
    line: "if ('refused' in result) throw result.refused;",
    without: "if ('refused' in result) return ANONYMOUS;",
    test: ALL_LIMITS,
    title: 'of logins',
  },
  {
    what: 'guesses are counted',
    file: IDENTITY,
    line: 'return logins.failed(address, user);',
    without: 'return logins.unanswered(address, user);',
    test: ALL_LIMITS,
    title: 'of logins',
  },
  {
    what: 'guesses at one user are counted together',
    file: LIMITS,
    line: 'byUser.waitS(hash, named)',
    without: '0',
    test: 'test/http/limits.test.ts',
    title: 'failed logins',
  },
  {
    what: 'guesses from one address are counted together',
    file: LIMITS,
    line: 'byAddress.waitS(network, here)',
    without: '0',
    test: 'test/http/limits.test.ts',
    title: 'failed logins',
  },
  {
    what: 'refused logins are let go of when their time is over',
    file: IDENTITY,
    line: '        purge();\n',
    test: LOGINS,
    title: 'is let go of',
  },
  {
    what: 'refused logins are kept for a shorter time than accepted ones',
    file: IDENTITY,
    line: '            kept.set(hash, found!, { ttl: REFUSED_KEPT_MS });\n',
    test: LOGINS,
    title: 'once in five seconds',
  },
  {
    what: 'guesses under way are counted too',
    file: LIMITS,
    line: 'return failed + before >= points ? 1 : 0;',
    without: 'return 0;',
    test: ALL_LIMITS,
    title: 'many at once',
  },
  {
    what: 'no other origin is asked',
    file: CLIENT,
    line: 'target?.origin !== origin.origin || hops === MAX_REDIRECTS',
    without: '!target || hops === MAX_REDIRECTS',
    test: WIRE,
    title: 'redirects',
  },
  {
    what: 'observations name no values of a query',
    file: CLIENT,
    line: "return names.length > 0 ? `${before}?${names.join('&')}` : before;",
    without: 'return path;',
    test: WIRE,
    title: 'on the wire',
  },
  {
    what: 'only the headers meant for the CMS reach it',
    file: CLIENT,
    line: 'for (const name of PASSED_HEADERS) if (headers[name] !== undefined) sent[name] = headers[name];',
    without: 'Object.assign(sent, headers);',
    test: WIRE,
    title: 'headers that are meant',
  },
  {
    what: 'no header in an observation',
    file: CLIENT,
    line: 'const path = request.label ?? shownPath(outgoing.path);',
    without: 'const path = `${request.label ?? shownPath(outgoing.path)} ${request.credentials}`;',
    test: 'test/faults/secrets.test.ts',
  },
  {
    what: 'the log takes credentials out of every text',
    file: 'src/observe/log.ts',
    line: ".replace(/\\b(basic|bearer)\\s+[A-Za-z0-9+/_=.~-]{6,}/gi, '$1 (removed)')",
    test: 'test/observe/log.test.ts',
    title: 'credentials',
  },
  // Images by URL.
  {
    what: 'every resolved address is checked',
    file: IMAGE,
    line: '!found.every(({ address }) => mayCall(address))',
    without: 'false',
    test: IMAGES,
  },
  {
    what: 'one closed address closes the name',
    file: IMAGE,
    line: 'found.every(',
    without: 'found.some(',
    test: IMAGES,
    title: 'one closed address',
  },
  {
    what: 'addresses in the URL are checked',
    file: IMAGE,
    line: 'return mayCall(host) ? url : undefined;',
    without: 'return url;',
    test: IMAGES,
    title: 'does not call',
  },
  {
    what: 'redirects are checked',
    file: IMAGE,
    line: "typeof location === 'string' ? usableUrl(location, place, mayCall) : undefined",
    without: 'new URL(String(location), place)',
    test: IMAGES,
    title: 'does not follow a redirect',
  },
  {
    what: 'addresses in odd spellings are refused',
    file: IMAGE,
    line: 'if (isIPv4(host) && url.host !== base?.host && !text.includes(`//${host}`)) return undefined;',
    test: IMAGES,
    title: 'spellings',
  },
  {
    what: 'no credentials in the URL',
    file: IMAGE,
    line: "if (url.username !== '' || url.password !== '') return undefined;",
    test: IMAGES,
    title: 'sends no credentials',
  },
  {
    what: 'size of an image',
    file: IMAGE,
    line: 'if (size > maxBytes) return undefined;',
    test: IMAGES,
    title: 'byte limit',
  },
  {
    what: 'time for an image',
    file: IMAGE,
    line: 'deadline.abort()',
    without: '{}',
    test: IMAGES,
    title: 'time limit',
  },
  {
    what: 'the type is read from the bytes',
    file: IMAGE,
    line: 'const type = TYPES.find(({ fits }) => fits(bytes));',
    without: "const type = TYPES.find(({ mimeType }) => mimeType === answer.headers['content-type']);",
    test: IMAGES,
  },
  ...['127.0.0.0', '10.0.0.0', '169.254.0.0', '172.16.0.0', '192.168.0.0', '100.64.0.0'].map((net) => ({
    ...{ what: `${net} is closed`, file: PUBLIC, line: `['${net}',`, without: "['203.0.113.0'," },
    test: PUBLICS,
  })),
  {
    what: 'IPv6 is open for global unicast alone (::1, mapped, fc00::/7)',
    file: PUBLIC,
    line: "openV6.check(address, 'ipv6') && ",
    test: PUBLICS,
  },
  // Limits.
  {
    what: 'size of JSON',
    file: BODY,
    line: 'jsonLimit: `${bodyBytes}b`',
    without: "jsonLimit: '1gb'",
    test: ALL_LIMITS,
    title: 'of a body',
  },
  {
    what: 'size of forms',
    file: BODY,
    line: 'formLimit: `${bodyBytes}b`',
    without: "formLimit: '1gb'",
    test: ALL_LIMITS,
    title: 'of a body',
  },
  {
    what: 'size of parts',
    file: BODY,
    line: "if (size > limit) throw Object.assign(new Error('body too large'), { status: 413 });",
    test: ALL_LIMITS,
    title: 'of a body',
  },
  {
    what: 'size of headers',
    file: PORT,
    line: '    maxHeaderSize: options.headerBytes,\n',
    test: ALL_LIMITS,
    title: 'of headers',
  },
  {
    what: 'length of a URL',
    file: APP,
    line: 'if (ctx.url.length > urlBytes)',
    without: 'if (false)',
    test: SOCKETS,
    title: 'an address beyond',
  },
  {
    what: 'depth of JSON',
    file: BODY,
    line: 'if (depth === 0)',
    without: 'if (false)',
    test: ALL_LIMITS,
    title: 'nested too deeply',
  },
  {
    what: 'ids in one parameter',
    file: 'src/http/routing.ts',
    line: '  refuseLongLists(endpoint, { ...state.query, ...state.body }, limits.idsPerParameter);\n',
    test: ALL_LIMITS,
    title: 'more values in one parameter',
  },
  {
    what: 'size of a page',
    file: 'src/calendar/paging.ts',
    line: 'Math.min(Number(values.per_page ?? perPage), maxPerPage)',
    without: 'Number(values.per_page ?? perPage)',
    test: ALL_LIMITS,
    title: 'pages of its own size',
  },
  {
    what: 'calls to the CMS at once',
    file: GUARDS,
    line: 'sum(({ running }) => running) + kept < limits.connections',
    without: 'true',
    test: WIRE,
    title: 'the queue',
  },
  {
    what: 'calls that wait for the CMS',
    file: GUARDS,
    line: '    if (lane.waiting.size >= lane.queue) return false;\n',
    test: WIRE,
    title: 'the queue',
  },
  {
    what: 'requests of one address',
    file: LIMITS,
    line: 'if (minute.requests > requestsPerMinute)',
    without: 'if (false)',
    test: ALL_LIMITS,
    title: 'from one address',
  },
  {
    what: '429 says when to come back',
    file: LIMITS,
    line: "      'Retry-After': String(seconds),\n",
    test: ALL_LIMITS,
    title: 'from one address',
  },
  {
    what: '429 says the figures',
    file: LIMITS,
    line: '      RateLimit: `"minute";r=0;t=${seconds}`,\n',
    test: 'test/http/limits.test.ts',
  },
  {
    what: 'only the proxy is believed',
    file: ADDRESS,
    line: 'forwarded(request).at(-1) ||',
    without: 'forwarded(request)[0] ||',
    test: ALL_LIMITS,
    title: 'from one address',
  },
  {
    what: 'no header is believed without a proxy',
    file: ADDRESS,
    line: 'if (trusted === false) return connected;',
    without: 'if (trusted === false) return callerAddress(true);',
    test: ALL_LIMITS,
    title: 'believes no header',
  },
  {
    what: 'time for the headers of a request',
    file: PORT,
    line: 'const headersTimeout = Math.min(options.headersTimeoutMs, requestTimeout);',
    without: 'const headersTimeout = requestTimeout;',
    test: ALL_LIMITS,
    title: 'of time for headers',
  },
  {
    what: 'time for a whole request',
    file: PORT,
    line: '...{ headersTimeout, requestTimeout,',
    without: '...{ headersTimeout, requestTimeout: 0,',
    test: SOCKETS,
    title: 'body for ever',
  },
  {
    what: 'who does not read',
    file: PORT,
    line: '  watchStalls(server, open, stallTimeoutMs);\n',
    test: SOCKETS,
    title: 'read nothing',
  },
  {
    what: 'a lane keeps its connections for itself',
    file: GUARDS,
    line: ' + kept < limits.connections',
    without: ' < limits.connections',
    test: LANES,
    title: 'keep a connection',
  },
  {
    what: 'the anonymous have few connections',
    file: GUARDS,
    line: 'lane.running < lane.most && ',
    test: LANES,
    title: 'two connections at most',
  },
  {
    what: 'users take turns',
    file: GUARDS,
    line: 'if (!first || underWay(one) < underWay(first)) first = one;',
    without: 'first ??= one;',
    test: LANES,
    title: 'take turns',
  },
  {
    what: 'one user fills no queue',
    file: GUARDS,
    line: 'return own < Math.ceil(lane.queue / 2);',
    without: 'return own < lane.queue;',
    test: LANES,
    title: 'half of a queue',
  },
  {
    what: 'failures in one lane stop no other',
    file: CLIENT,
    line: "function guardsOf({ lane = 'sync' }: ClientRequest) {",
    without: "function guardsOf(_: ClientRequest, lane: LaneName = 'sync') {",
    test: WIRE,
    title: 'stops no other lane',
  },
  {
    what: 'the anonymous cause so many calls a second',
    file: 'src/calendar/unknown.ts',
    line: 'if (left - calls < leaving) return false;',
    test: UNKNOWN,
  },
  {
    what: 'what the CMS did not answer is not missing',
    file: 'src/calendar/posts.ts',
    line: '      if (!(error instanceof UpstreamRefused)) throw error;\n      if (error.status === 401 || error.status === 403) return true;\n',
    without:
      '      if (!(error instanceof UpstreamRefused)) return false;\n      if (error.status === 401 || error.status === 403) return true;\n',
    test: UNKNOWN,
    title: 'while the CMS is away',
  },
  {
    what: 'connections',
    file: PORT,
    line: '  server.maxConnections = options.sockets;\n',
    test: ALL_LIMITS,
    title: 'of connections',
  },
  {
    what: 'no key reaches a prototype',
    file: BODY,
    line: '.filter(([key]) => !DANGEROUS.has(key))',
    test: 'test/http/body.test.ts',
  },
  {
    what: 'header names with underscores are refused',
    file: FRONT,
    line: "if (rawHeaders[i]!.includes('_')) return true;",
    without: '{}',
    test: SOCKETS,
    title: 'underscore',
  },
  {
    what: 'absolute addresses are refused',
    file: FRONT,
    line: "if (!url?.startsWith('/')) return true;",
    test: SOCKETS,
    title: 'absolute address',
  },
  {
    what: 'strict reading of HTTP',
    file: PORT,
    line: '    maxHeaderSize: options.headerBytes,\n',
    without: '    maxHeaderSize: options.headerBytes,\n    insecureHTTPParser: true,\n',
    test: SOCKETS,
    title: 'refuses',
  },
  // The CMS misbehaving.
  {
    what: 'time until the CMS begins to answer',
    file: EXCHANGE,
    line: 'headersTimeout: limits.headersTimeoutMs,',
    without: 'headersTimeout: 0,',
    test: WIRE,
    title: 'time until an answer begins',
  },
  {
    what: 'the deadline of a call',
    file: CLIENT,
    line: '    () => controller.abort(new UpstreamAway',
    without: '    () => void (new UpstreamAway',
    test: CMS,
    title: 'drips',
  },
  {
    what: 'the end of a connection that nobody waits for',
    file: EXCHANGE,
    line: '              controller.abort(reason);\n',
    test: CMS,
    title: 'and drips its body',
  },
  {
    what: 'size of an answer',
    file: EXCHANGE,
    line: 'if (size <= limits.maxBytes)',
    without: 'if (true)',
    test: WIRE,
    title: '100 MB',
  },
  {
    what: 'size of an answer when unpacked',
    file: EXCHANGE,
    line: ', { maxOutputLength: limits.maxBytes }',
    test: WIRE,
    title: 'gzip bomb',
  },
  {
    what: 'the answer behind a PHP notice',
    file: ANSWER,
    line: 'if (rest !== undefined) return rest;',
    test: WIRE,
    title: 'PHP notice',
  },
  {
    what: 'a page is no answer',
    file: ANSWER,
    line: "if (expect === 'json' && method !== 'HEAD' && status !== 204 && json === undefined)",
    without: 'if (false)',
    test: WIRE,
    title: 'in what it says',
  },
  {
    what: 'Retry-After of the CMS is passed on',
    file: ANSWER,
    line: '...(retryAfterS === undefined ? {} : { retryAfterS }),',
    test: CMS,
    title: 'asks for patience',
  },
  {
    what: 'a write is never repeated',
    file: CLIENT,
    line: 'REPEATABLE.has(request.method) && number <= limits.retries',
    without: 'number <= limits.retries',
    test: WIRE,
    title: 'neither a write',
  },
  {
    what: 'a write is not sent along a redirect',
    file: CLIENT,
    line: 'REPEATABLE.has(method) && isRedirect(incoming.status)',
    without: 'isRedirect(incoming.status)',
    test: WIRE,
    title: 'redirects',
  },
  {
    what: 'the retry budget',
    file: CLIENT,
    line: 'if (!again || !budget.retry())',
    without: 'if (!again)',
    test: WIRE,
    title: 'a fifth',
  },
  {
    what: 'an unknown outcome is called unknown',
    file: EXCHANGE,
    line: 'const outcomeUnknown = () => sent && isWrite(request.method);',
    without: 'const outcomeUnknown = () => false;',
    test: CMS,
    title: 'says of a write',
  },
  {
    what: 'the breaker',
    file: GUARDS,
    line: 'new ConsecutiveBreaker(5)',
    without: 'new ConsecutiveBreaker(1e9)',
    test: WIRE,
    title: 'the breaker',
  },
  {
    what: 'one probe at a time',
    file: GUARDS,
    line: 'if (policy.state === CircuitState.HalfOpen) throw refusal();',
    test: WIRE,
    title: 'the breaker',
  },
  {
    what: 'the state of the breaker is told',
    file: 'src/observe/metrics.ts',
    line: 'breaker.set(BREAKER[seen.state]);',
    test: CMS,
    title: 'says that it leaves',
  },
  // Overload and ends.
  {
    what: 'the door shuts under overload',
    file: ADMISSION,
    line: '> overloadMs * share;',
    without: '> 1e9;',
    test: DOOR,
  },
  {
    what: 'the door counts what is sent too',
    file: ADMISSION,
    line: 'Math.max(LEAST_SHARE, lookingMs / wholeMs)',
    without: '1',
    test: DOOR,
  },
  {
    what: 'bodies at once',
    file: ADMISSION,
    line: 'if (bodies >= bodiesAtOnce) return refuse(request, response);',
    test: DOOR,
  },
  { what: 'a body that is over is counted no more', file: ADMISSION, line: 'bodies -= 1;', test: DOOR },
  {
    what: 'callers who go away are nobody’s failure',
    file: APP,
    line: 'return error instanceof Error && GOODBYES.test(String(code ?? type));',
    without: 'return code === type && GOODBYES.test(String(error)) && false;',
    test: SOCKETS,
    title: 'two thousand callers',
  },
  {
    what: '/ready says no while draining',
    file: 'src/gateway.ts',
    line: '    admin.draining();\n',
    test: PROCESS,
    title: 'everything finished',
  },
  {
    what: 'the end waits for what has begun',
    file: PORT,
    line: '    await closed;\n',
    without: '    server.closeAllConnections();\n    await closed;\n',
    test: PROCESS,
    title: 'everything finished',
  },
  {
    what: 'the end lets in who has arrived',
    file: PORT,
    line: '    await connections.letIn();\n',
    test: ENDS,
  },
  {
    what: 'the end cuts no answer off',
    file: PORT,
    line: '      server.closeIdleConnections = () => {};\n',
    test: ENDS,
  },
  {
    what: 'the end waits for no connection that is kept',
    file: PORT,
    line: 'if (open.get(socket) === answer) socket.destroySoon();',
    test: ENDS,
  },
  {
    what: 'the end waits no longer than drainMs',
    file: PORT,
    line: 'server.closeAllConnections(), options.drainMs',
    without: '{}, options.drainMs',
    test: PROCESS,
    title: 'within its time',
  },
  {
    what: 'a second signal ends at once',
    file: SERVE,
    line: '  void nextSignal().then(() => process.exit(1));\n',
    test: PROCESS,
    title: 'second SIGTERM',
  },
  // Seeing it.
  {
    what: 'an id is taken over only where fit',
    file: 'src/http/request-id.ts',
    line: ' && FIT.test(given)',
    test: ALL_LIMITS,
    title: 'of ids',
  },
  {
    what: 'the id reaches the CMS',
    file: CLIENT,
    line: "sent['x-request-id'] = requestId;",
    without: '{}',
    test: ALL_LIMITS,
    title: 'of ids',
  },
  {
    what: '/ready?strict=1 asks for a copy in step',
    file: 'src/http/admin.ts',
    line: " && (query.get('strict') !== '1' || inStep())",
    test: 'test/http/admin.test.ts',
  },
  {
    what: 'the admin port is on loopback',
    file: 'config/default.json',
    line: '"adminHost": "127.0.0.1"',
    without: '"adminHost": "0.0.0.0"',
    test: 'test/config.test.ts',
    title: 'defaults that are promised',
  },
  {
    what: 'nosniff',
    file: 'src/http/headers.ts',
    line: "  'X-Content-Type-Options': 'nosniff',\n",
    test: 'test/http/protocol.test.ts',
  },
  {
    what: 'a content security policy on pages',
    file: 'src/http/pages/pages.ts',
    line: "  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);\n",
    test: 'test/http/pages/pages.test.ts',
  },
  {
    what: 'stale answers are counted',
    file: 'src/observe/metrics.ts',
    line: "if (seen.cache === 'stale') stale.inc();",
    test: 'test/observe/metrics.test.ts',
  },
];
