// Every parameter of every endpoint, for tests of all of them.

import type { Parameter } from '../../src/interface/parameter.ts';
import { type Endpoint, ROUTES, type Route } from '../../src/interface/routes.ts';

/** The path of the route with this id or slug. */
export const pathOf = ({ path }: Route, key: string): string => path.replace(/\{(id|slug)\}/, key);

interface Row {
  route: Route;
  endpoint: Endpoint;
  parameter: Parameter;
}

export const ROWS: Row[] = ROUTES.flatMap((route) =>
  route.endpoints.flatMap((endpoint) => endpoint.parameters.map((parameter) => ({ route, endpoint, parameter }))),
);
