// Lines on their way to standard error: collected, and handed to the operating system in pieces, since each hand-over costs as much as writing ten lines.

import { writeSync } from 'node:fs';

export interface Lines {
  write(line: string): void;
  /** Hands over what is waiting. */
  flush(): void;
}

const PIECE_LETTERS = 16 * 1024;
/** The longest that a line waits. */
const FLUSH_MS = 200;
/** For a reader that does not keep up: of what comes then, this much is kept and the rest dropped. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;

/**
 * Writes to a file descriptor. What waits goes out when the process ends too, by itself, by a call or by an uncaught error; a kill
 * that leaves no time loses the last 200 ms.
 */
export function createLines(fd: number): Lines {
  let text = '';
  let backlog: Buffer[] = [];
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;

  function later(): void {
    timer ??= setTimeout(flush, FLUSH_MS).unref();
  }

  function handOver(bytes: Buffer): void {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(fd, bytes, at);
    } catch (error) {
      // A reader behind a pipe is busy: it is asked again. Whatever else is wrong with the descriptor, there is nobody to tell.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || waiting + bytes.length > MAX_BACKLOG_BYTES) return;
      backlog.push(Buffer.from(bytes.subarray(at)));
      waiting += bytes.length - at;
      later();
    }
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const before = backlog;
    backlog = [];
    waiting = 0;
    for (const bytes of before) {
      if (backlog.length === 0) handOver(bytes);
      else {
        backlog.push(bytes);
        waiting += bytes.length;
      }
    }
    if (text === '') return;
    const bytes = Buffer.from(text);
    text = '';
    if (backlog.length === 0) handOver(bytes);
    else if (waiting + bytes.length <= MAX_BACKLOG_BYTES) {
      backlog.push(bytes);
      waiting += bytes.length;
    }
  }

  process.on('exit', flush);
  return {
    write(line) {
      text += line;
      if (text.length >= PIECE_LETTERS) flush();
      else later();
    },
    flush,
  };
}
