// Bytes that have memory of their own: a cache that keeps them keeps nothing else. `Buffer.from(text)` and
// `Buffer.concat` return slices of a pool, and a cached slice of a hundred bytes would keep the 8 KiB around it.

export const utf8 = (text: string): Buffer => Buffer.from(new TextEncoder().encode(text).buffer);

export const byteLength = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);

export function joinBytes(chunks: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(byteLength(chunks));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** Ends the stream and throws if there are more bytes. */
export async function readAtMost(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new Error('too large');
    chunks.push(chunk);
  }
  return joinBytes(chunks);
}
