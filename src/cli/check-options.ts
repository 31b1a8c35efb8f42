// What `check` can be told on the command line, and its help.

export const CHECK_OPTIONS = {
  config: { type: 'string' },
  write: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const CHECK_HELP = `calendar-gateway check [--config FILE] [--write] [--json]

Looks whether the site, the service account and the mapping go together: clock, time zone, rights, lists that repeat or leave out
records, each field of the mapping in a few records, keys that WordPress would drop silently, change notices. The configuration is
that of serve: config/default.json, FILE, then the environment (CALENDAR_UPSTREAM_URL ...; see serve --help).

  --write   also make a draft of each kind, write each field, read it back, clear it, and remove the draft for good
  --json    for machines: {"ok": ..., "counts": ..., "rows": [{"area", "what", "state", "says", "todo"}]}

  calendar-gateway check --config calendar-gateway/config.json --write     after init, with what is in secrets.env in the environment

Exit code: 0 nothing failed (there may be warnings), 1 something failed, 2 it could not be checked: a mistake in the
configuration, or a site that does not answer.
`;

export interface CheckOptions {
  config?: string | undefined;
  write?: boolean | undefined;
  json?: boolean | undefined;
}
