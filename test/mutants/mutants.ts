// All mutants: guards of the gateway, each with the code that removes it and the test that must then fail.

import { CALENDAR_MUTANTS } from './calendar-mutants.ts';
import { CLI_MUTANTS } from './cli-mutants.ts';
import { CLUSTER_MUTANTS } from './cluster-mutants.ts';
import { CMS_MUTANTS } from './cms-mutants.ts';
import { HTTP_MUTANTS } from './http-mutants.ts';
import { LIMITS_MUTANTS } from './limits-mutants.ts';
import type { Mutant } from './mutant.ts';
import { PUSH_MUTANTS } from './push-mutants.ts';
import { REPLICA_MUTANTS } from './replica-mutants.ts';

export const MUTANTS: readonly Mutant[] = [
  ...CALENDAR_MUTANTS,
  ...CLI_MUTANTS,
  ...CLUSTER_MUTANTS,
  ...PUSH_MUTANTS,
  ...CMS_MUTANTS,
  ...HTTP_MUTANTS,
  ...LIMITS_MUTANTS,
  ...REPLICA_MUTANTS,
];
