// How the operator starts this program, so that what is advised can be typed as it stands.

/** By npm's name of what runs: out of a checkout it is a script, in a folder that it is installed in, `npx`. */
const STARTED_BY: Readonly<Record<string, string>> = {
  cli: 'npm run --silent cli --',
  npx: 'npx calendar-gateway',
};

/** Words to begin a command with. `env`: the process's own. */
export const ownName = (env: NodeJS.ProcessEnv = process.env): string =>
  STARTED_BY[env.npm_lifecycle_event ?? ''] ?? 'calendar-gateway';
