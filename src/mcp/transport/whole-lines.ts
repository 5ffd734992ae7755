import { Transform } from 'node:stream';

const NEWLINE = 0x0a;

/**
 * Hands on whole lines only. Who splits a stream into messages looks through all it has at every chunk, which for a
 * line of many chunks takes time in the square of its length. A line of more bytes is left out, and told at once.
 */
export function wholeLines(bytesMax: number, onTooLong: () => void): Transform {
  let parts: Buffer[] = [];
  let length = 0;

  function take(part: Buffer): void {
    const isFirstTooMuch = length <= bytesMax && length + part.length > bytesMax;
    length += part.length;
    if (length <= bytesMax) parts.push(part);
    else parts = [];
    if (isFirstTooMuch) onTooLong();
  }

  return new Transform({
    transform(chunk: Buffer, _, done) {
      let at = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
        take(chunk.subarray(at, end + 1));
        if (parts.length > 0) this.push(Buffer.concat(parts));
        parts = [];
        length = 0;
        at = end + 1;
      }
      if (at < chunk.length) take(chunk.subarray(at));
      done();
    },
  });
}
