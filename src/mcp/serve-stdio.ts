import { pipeline, Transform } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CallsUnderWay } from './calls-under-way.ts';
import { type Backend, mcpServer, warmUp } from './server.ts';

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

/** A call may hand in 32 artifacts of 256 KiB, each letter of which JSON may write as six. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

const TOO_LONG = `A message of more than ${MESSAGE_BYTES_MAX} bytes was left out and will not be answered. Send less at once.`;

/** Serves MCP on standard input and output until the client hangs up. Nothing is opened before the first call. */
export function serveMcpOnStdio(backend: Backend): { readonly stop: () => Promise<void> } {
  const { log, calls } = backend;
  const lines = wholeLines(MESSAGE_BYTES_MAX, () => log.trouble(TOO_LONG));
  const input = endingAfter(calls);
  // What ends or fails in standard input does so in what the transport reads, which is how it hears of it.
  pipeline(process.stdin, lines, input, () => undefined);
  const transport = new StdioServerTransport(input, process.stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
  const serving = serveStdio(
    () => {
      // The first reply is on its way when the timer fires; what the next call needs can be loaded then.
      setTimeout(() => warmUp(backend).catch((cause: unknown) => log.trouble(String(cause))), 0).unref();
      return mcpServer(backend);
    },
    { transport, onerror: (cause) => log.trouble(wordsFor(cause)) },
  );
  log.event('serving', { transport: 'stdio' });
  return {
    stop: async () => {
      await calls.settled();
      await serving.close();
    },
  };
}

/** Hands everything on, but ends only when every call in it is answered: who pipes a file into the server wants replies. */
function endingAfter(calls: CallsUnderWay): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => done(null, chunk),
    flush: (done) => {
      calls.settled().then(() => done(), done);
    },
  });
}

/** What the library says of a line that is JSON but no message is a page of it. */
function wordsFor({ name, message }: Error): string {
  return name === 'ZodError' ? 'A line that is no single message of the protocol was left out.' : message;
}
