// The kinds of value that a parameter can have, by the name under which the table of parameters calls them.

export * from './kinds-dates.ts';
export * from './kinds-plain.ts';
export * from './kinds-records.ts';
export * from './kinds-terms.ts';
