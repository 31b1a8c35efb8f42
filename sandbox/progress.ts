// Prints the progress of the sandbox to stderr.

/** `share`: how much of the step is done, from 0 to 1, if known. */
export type Progress = (text: string, share?: number) => void;

export const noProgress: Progress = () => {};

/**
 * On a terminal it updates a step's line in place; elsewhere it prints a line for each quarter.
 * @param name the prefix of each line
 */
export function printProgress(stream: NodeJS.WriteStream = process.stderr, name = 'sandbox'): Progress {
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
