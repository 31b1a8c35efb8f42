// How the operator starts this program, so that what is advised can be typed as it stands.

/** Out of a checkout it is an npm script, installed it is a command. `env`: the process's own. */
export const ownName = (env: NodeJS.ProcessEnv = process.env): string =>
  env.npm_lifecycle_event === 'cli' ? 'npm run --silent cli --' : 'calendar-gateway';
