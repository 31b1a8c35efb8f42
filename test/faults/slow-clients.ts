// Slow clients: ways to hold a connection open without ever completing a request.

import { MOUNT } from '../start-gateway.ts';

export interface SlowClient {
  name: string;
  start: string;
  repeat: string;
  reads: boolean;
}

const END = '\r\n\r\n';
const POST = `POST ${MOUNT}/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`;

export const SLOW_CLIENTS: SlowClient[] = [
  { name: 'send nothing', start: '', repeat: '', reads: true },
  { name: 'send a header for ever', start: `GET ${MOUNT}/events HTTP/1.1\r\nX-Slow: `, repeat: 'a', reads: true },
  {
    name: 'send a body for ever',
    start: `${POST}\r\nContent-Length: 100000${END}{"title":"`,
    repeat: 'a',
    reads: true,
  },
  {
    name: 'send chunks for ever',
    start: `${POST}\r\nTransfer-Encoding: chunked${END}1\r\n`,
    repeat: '{\r\n1\r\n',
    reads: true,
  },
  {
    name: 'read no response',
    start: `GET ${MOUNT}/doc HTTP/1.1\r\nHost: x${END}`.repeat(100),
    ...{ repeat: '', reads: false },
  },
];
