// How the operator starts this program, so that what is advised can be typed as it stands.

/**
 * The command by npm's variable `npm_lifecycle_event`: `cli` is the script of a checkout, `npx` runs an
 * installed package.
 */
const COMMAND_BY_SCRIPT: Readonly<Record<string, string>> = {
  cli: 'npm run --silent cli --',
  npx: 'npx calendar-gateway',
};

/** The words with which a command of this program begins. */
export const programName = (env: NodeJS.ProcessEnv = process.env): string =>
  COMMAND_BY_SCRIPT[env.npm_lifecycle_event ?? ''] ?? 'calendar-gateway';
