// Mutants of the CMS client and of images by URL.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of sources.

import { type Mutant, mutantsOf } from './mutant.ts';

export const CMS_MUTANTS: readonly Mutant[] = [
  ...mutantsOf('src/cms/bulkhead.ts', 'test/cms/bulkhead.test.ts', {
    'the number of queued calls to the CMS': {
      function: 'createBulkheads',
      code: 'bulkhead(_1.connections, _2.queue)',
      replacement: 'bulkhead(share.connections, Number.MAX_SAFE_INTEGER)',
      title: 'twenty places in the queue',
    },
    'connections of the other bulkheads': {
      function: 'createBulkheads',
      code: 'bulkhead(_1.connections, _2.queue)',
      replacement: 'bulkhead(limits.connections, share.queue)',
      title: 'one connection',
    },
  }),
  ...mutantsOf('src/cms/bulkhead.ts', 'test/cms/circuit-breaker.test.ts', {
    'the circuit breaker opens': {
      function: 'createCircuitBreaker',
      code: 'new ConsecutiveBreaker(CONSECUTIVE_FAILURES)',
      replacement: 'new ConsecutiveBreaker(1e9)',
    },
    'a half-open circuit breaker tries one call': {
      function: 'createCircuitBreaker.run',
      code: 'if (_1.state === CircuitState.HalfOpen) throw _2();',
    },
  }),
  ...mutantsOf('src/cms/client.ts', 'test/faults/cms-client.test.ts', {
    'observations contain no query values': {
      function: 'createCmsClient.send',
      code: 'path: label, status',
      replacement: 'path: httpRequest.path, status',
      title: 'redirects',
    },
    'observations contain no headers': {
      function: 'createCmsClient.send',
      code: 'path: label, status',
      replacement: 'path: String(request.credentials), status',
      test: 'test/faults/secrets.test.ts',
    },
    'failures in one bulkhead stop no other': {
      function: 'createCmsClient.request',
      code: '_1[_2]',
      replacement: 'breakers.sync',
      test: 'test/faults/cms-client-load.test.ts',
      title: 'stops no other bulkhead',
    },
    'the deadline of a call': {
      function: 'createCmsClient.request',
      code: '() => _1.abort(new CmsUnavailable',
      replacement: '() => void (new CmsUnavailable',
      test: 'test/faults/cms-faults.test.ts',
      title: 'drips',
    },
    'the request id reaches the CMS': {
      function: 'requestHeaders',
      code: "_1['x-request-id'] = _2;",
      replacement: '{}',
      test: 'test/faults/limits.test.ts',
      title: 'on request ids: a valid one is kept, in the response and for the CMS',
    },
  }),
  ...mutantsOf('src/cms/public-request.ts', 'test/cms/fetch-image.test.ts', {
    'every resolved address is checked': {
      function: 'createCheckedLookup',
      code: '!_1.every(({ address }) => _2(_3))',
      replacement: 'false',
    },
    'one private address rejects the host': {
      function: 'createCheckedLookup',
      code: '_1.every(',
      replacement: '_1.some(',
      title: 'rejects a host with one private address among public ones',
    },
    'addresses in the URL are checked': {
      function: 'checkUrl',
      code: 'isIP(_1) !== 0 && !_2(_3)',
      replacement: 'false',
      title: 'does not call 127.0.0.1',
    },
    'redirects are checked': {
      function: 'getPublic',
      code: 'checkUrl(_1, _2.anyPort ?? false, (_3) => _4 || _5(_3));',
      replacement: 'if (hops === 0) checkUrl(url, options.anyPort ?? false, (address) => isAllowedAddress(address));',
      title: 'does not follow a redirect',
    },
    'the number of redirects': {
      function: 'getPublic',
      code: '_1 <= MAX_REDIRECTS',
      replacement: 'hops <= 10',
      title: 'follows at most three redirects',
    },
    'no credentials in the URL': {
      function: 'checkUrl',
      code: "if (_1.username !== '' || _1.password !== '') throw new PublicRequestError('an address with a password');",
      title: 'sends no credentials or cookies, and rejects URLs with credentials',
    },
    'size of a body': {
      function: 'getPublic',
      code: 'readAtMost(_1, _2.maxBytes)',
      replacement: 'readAtMost(body, Number.MAX_SAFE_INTEGER)',
      title: 'stops at the byte limit, with and without Content-Length',
    },
    'time for a response': {
      function: 'getPublic',
      code: 'AbortSignal.timeout(_1)',
      replacement: 'new AbortController().signal',
      title: 'stops at the time limit, before headers and within a body',
    },
    'no other port is called': {
      function: 'checkUrl',
      code: "_1.port !== '' && !_2",
      replacement: 'false',
      title: 'calls standard ports only, also after a redirect',
    },
  }),
  ...mutantsOf('src/calendar/image-fetcher.ts', 'test/cms/fetch-image.test.ts', {
    'the type is read from the bytes': {
      function: 'fetchImage',
      code: 'const _1 = IMAGE_TYPES.find(({ matches }) => _2(_3));',
      replacement: "const _1 = IMAGE_TYPES.find(({ mimeType }) => mimeType === response.headers['content-type']);",
    },
  }),
  ...mutantsOf('src/cms/send-request.ts', 'test/faults/cms-client.test.ts', {
    'no redirect to another origin is followed': {
      function: 'stayWithin',
      code: '_1.origin !== _2',
      replacement: 'false',
      title: 'redirects',
    },
    'a write does not follow a redirect': {
      function: 'sendRequest',
      code: '...(isWrite(_1) ? [] : _2)',
      replacement: '...interceptorsOfReads',
      title: 'redirects',
    },
    'a write is never retried': {
      function: 'sendRequest',
      code: '...(isWrite(_1) ? [] : _2)',
      replacement: '...interceptorsOfReads',
      title: 'neither a write nor a read with Retry-After',
      test: 'test/faults/cms-client-load.test.ts',
    },
    'no part of a body is asked for': {
      function: 'isTransient',
      code: '_1 === undefined && _2 !==',
      replacement: 'code !==',
      title: 'within its body',
      test: 'test/faults/cms-client-load.test.ts',
    },
    "timeout for the CMS's headers": {
      function: 'sendRequest',
      code: 'headersTimeout: _1.headersTimeoutMs,',
      replacement: 'headersTimeout: 0,',
      title: 'limits the time until the headers, however late the deadline',
    },
    'an aborted call closes its connection': {
      function: 'sendRequest',
      code: '{ ..._1, ..._2 }',
      replacement: '{ ...options, ...timeouts, signal: null }',
      test: 'test/faults/cms-faults.test.ts',
      title: 'that drips its body',
    },
    'size of a decompressed response': {
      function: 'sendRequest',
      code: ', maxSize: _1.maxBytes',
      title: 'gzip bomb',
    },
    'a write with an unknown outcome is reported as such': {
      function: 'sendRequest',
      code: '_1.isSent && isWrite(_2)',
      replacement: 'false',
      test: 'test/faults/cms-faults.test.ts',
      title: 'responds to a write:',
    },
  }),
  ...mutantsOf('src/cms/sources/icalendar.ts', 'test/cms/sources/icalendar.test.ts', {
    'a private event is not served': {
      function: 'addPart',
      code: "if (/^(private|confidential)$/i.test(textOf(_1, 'class'))) throw new Error('private');",
      title: 'does not show an instance whose change cannot be read, or is private',
    },
  }),
  ...mutantsOf('src/cms/sources/icalendar-rules.ts', 'test/cms/sources/icalendar.test.ts', {
    'the times of one day': {
      function: 'timesOfDay',
      code: '_1.length * _2.length * _3.length > MAX_TIMES_A_DAY',
      replacement: 'false',
      title: 'loses only what is wrong',
    },
  }),
  ...mutantsOf('src/cms/sources/icalendar-times.ts', 'test/cms/sources/icalendar.test.ts', {
    'the instances of a series': {
      function: 'addStartsOfRule',
      code: '_1.size > MAX_STARTS',
      replacement: 'false',
      title: 'with endless rules is bounded, and lets other work run',
    },
  }),
  ...mutantsOf('src/calendar/image-fetcher.ts', 'test/calendar/image-fetcher.test.ts', {
    'the memory of fetched images is bounded': {
      function: 'createImageFetcher.fetch',
      code: '|| _1 + MAX_BYTES > TOTAL_BYTES',
    },
  }),
  ...mutantsOf('src/cms/public-request.ts', 'test/cms/public-address.test.ts', {
    'addresses of the range loopback are not public': {
      function: 'isPublicAddress',
      code: "_1.range() !== 'unicast'",
      replacement: "!['unicast', 'loopback'].includes(_1.range())",
    },
    'addresses of the range private are not public': {
      function: 'isPublicAddress',
      code: "_1.range() !== 'unicast'",
      replacement: "!['unicast', 'private'].includes(_1.range())",
    },
    'addresses of the range linkLocal are not public': {
      function: 'isPublicAddress',
      code: "_1.range() !== 'unicast'",
      replacement: "!['unicast', 'linkLocal'].includes(_1.range())",
    },
    'addresses of the range carrierGradeNat are not public': {
      function: 'isPublicAddress',
      code: "_1.range() !== 'unicast'",
      replacement: "!['unicast', 'carrierGradeNat'].includes(_1.range())",
    },
    'other spellings of an IP address are not public': {
      function: 'isPublicAddress',
      code: 'isIP(_1) === 0',
      replacement: '!ipaddr.isValid(_1)',
    },
    'IPv6 addresses outside global unicast are not public': {
      function: 'isPublicAddress',
      code: '&& _1.match(GLOBAL_IPV6)',
    },
  }),
  ...mutantsOf('src/cms/response.ts', 'test/faults/cms-client.test.ts', {
    'JSON after a PHP notice': {
      function: 'parseJson',
      code: 'parseBeginning(_1.slice(_2))',
      replacement: 'parseBeginning(text)',
      title: 'parses JSON after a PHP notice',
    },
    'an HTML page is no response': {
      function: 'parseResponse',
      code: "if (_1 === 'json' && _2 !== 204 && _3 === undefined)",
      replacement: 'if (false)',
      title: 'with bad responses',
    },
    'Retry-After of the CMS is passed on': {
      function: 'parseResponse',
      code: "retryAfterS: parseRetryAfter(_1['retry-after']),",
      test: 'test/faults/cms-faults.test.ts',
      title: 'sends 429 with Retry-After',
    },
  }),
];
