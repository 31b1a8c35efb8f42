// How the sandbox tells a person what it is doing: lines on stderr, with a share done where one is known.

/** Told what is going on; `share` is how much of it is done, from 0 to 1, where that is known. */
export type Progress = (text: string, share?: number) => void;

/** Says nothing. */
export const silent: Progress = () => {};

/**
 * A progress that writes to a stream: on a terminal a step's share is updated in place, elsewhere each quarter is a line.
 * @param name stands before each line, to tell several programs' lines apart
 */
export function printedProgress(stream: NodeJS.WriteStream = process.stderr, name = 'sandbox'): Progress {
  let lastText = '';
  let lastQuarter = -1;
  let openLine = false;
  return (text, share) => {
    const percent = share === undefined ? '' : ` ${Math.floor(share * 100)} %`;
    const quarter = share === undefined ? -1 : Math.floor(share * 4);
    if (stream.isTTY) {
      const start = openLine && text === lastText ? '\r\u001b[K' : openLine ? '\n' : '';
      openLine = share !== undefined && share < 1;
      stream.write(`${start}${name}: ${text}${percent}${openLine ? '' : '\n'}`);
    } else if (text !== lastText || quarter !== lastQuarter) {
      stream.write(`${name}: ${text}${percent}\n`);
    }
    lastText = text;
    lastQuarter = quarter;
  };
}
