// How the operator starts this program, so that what is advised can be typed as it stands.

/** By npm's name of what runs: out of a checkout it is a script, in a folder that it is installed in, `npx`. */
const COMMAND_BY_SCRIPT: Readonly<Record<string, string>> = {
  cli: 'npm run --silent cli --',
  npx: 'npx calendar-gateway',
};

/** Words to begin a command with. `env`: the process's own. */
export const programName = (env: NodeJS.ProcessEnv = process.env): string =>
  COMMAND_BY_SCRIPT[env.npm_lifecycle_event ?? ''] ?? 'calendar-gateway';
