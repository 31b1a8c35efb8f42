// What each program found: one line of JSON.

export interface Findings {
  title: string | undefined;
  total: number | undefined;
  total_pages: number | undefined;
  /** Status and code of an event that does not exist. */
  missing: [status: number | undefined, code: string | undefined];
  created: number | undefined;
  deleted: number | undefined;
}

export const report = (findings: Findings): void => console.log(JSON.stringify(findings));
