// Ways to hold a connection without ever being done: what is sent at once, and what again and again.

import { MOUNT } from './gateway.ts';

export interface Dawdler {
  name: string;
  first: string;
  again: string;
  reads: boolean;
}

const END = '\r\n\r\n';
const POST = `POST ${MOUNT}/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`;

export const DAWDLERS: Dawdler[] = [
  { name: 'say nothing', first: '', again: '', reads: true },
  { name: 'send a header for ever', first: `GET ${MOUNT}/events HTTP/1.1\r\nX-Slow: `, again: 'a', reads: true },
  { name: 'send a body for ever', first: `${POST}\r\nContent-Length: 100000${END}{"title":"`, again: 'a', reads: true },
  {
    name: 'send chunks for ever',
    first: `${POST}\r\nTransfer-Encoding: chunked${END}1\r\n`,
    again: '{\r\n1\r\n',
    reads: true,
  },
  {
    name: 'read nothing of what they asked for',
    first: `GET ${MOUNT}/doc HTTP/1.1\r\nHost: x${END}`.repeat(400),
    ...{ again: '', reads: false },
  },
];
