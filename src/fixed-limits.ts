// Sizes and times in sections of the configuration that no operator decides. Tests may replace them. One without a
// comment is far above what clients need. Other limits are constants beside their use.

export const LIMITS = {
  upstream: {
    limits: {
      /** Waiting calls of callers with accounts, and as many of the sync. Anonymous lookups, logins: a fifth each. */
      queue: 100,
      /** A site that takes no connection in this time is down, not slow. */
      connectTimeoutMs: 2000,
      /** 2/3 of `deadlineMs` (config.ts); this in tests alone. From sending a call until its response headers. */
      headersTimeoutMs: 10_000,
      /** Of one response. A record that is larger alone is left out of the replica. */
      maxBytes: 5 * 1024 * 1024,
      /** Of a read that failed. No write is sent twice. */
      retries: 2,
      /** Before the first retry; doubles with each. */
      retryDelayMs: 100,
      /** Until the open circuit breaker lets a trial call through. */
      halfOpenAfterMs: 5000,
    },
  },
  cache: {
    /** A CDN shows a list up to this much longer while it asks for the new one. */
    staleWhileRevalidateS: 30,
    /** Memory of whole responses, and of rendered records. */
    responseBytes: 16 * 1024 * 1024,
    recordBytes: 6 * 1024 * 1024,
  },
  limits: {
    /** deploy/nginx.conf lets a little more through, so that the client gets the API's error. */
    bodyBytes: 1024 * 1024,
    /** Node's own default. */
    headerBytes: 16 * 1024,
    urlBytes: 8192,
    jsonDepth: 32,
    /**
     * Values in one parameter: each costs a lookup. Others may refuse a shorter list: `urlBytes` in a query,
     * READ_BODY_BYTES in the body of a read, SIZES.ids and SIZES.terms in both (src/interface/value-lengths.ts).
     */
    idsPerParameter: 1000,
    /** Wrong logins in `failedLoginWindowS` before more wait; tokens that the CMS ignores count apart, up to this. */
    failedLoginsPerAddress: 20,
    /** Except from addresses where this user has logged in within a day. */
    failedLoginsPerUser: 10,
    failedLoginWindowS: 300,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    /** Longer than that of a load balancer, which is mostly 60 s, so that the gateway never closes first. */
    keepAliveTimeoutMs: 65_000,
    /** Open connections, of which one network may have a tenth. */
    sockets: 10_000,
    /** Requests with a body at the same time: each may take `bodyBytes` of memory. One network may have a tenth. */
    bodiesAtOnce: 200,
    /** A turn of the event loop may take this long: then cache misses and writes get 503 (load-shedding.ts). */
    overloadMs: 100,
    /** For requests in flight on shutdown: less than the 30 s of Kubernetes and Docker. */
    drainMs: 25_000,
  },
};
