import { pipeline, Transform } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Backend, type CallsUnderWay, mcpServer, warmUp } from './server.ts';

const NEWLINE = 0x0a;

/**
 * Passes on whole lines only. The library searches its whole buffer for every chunk, which takes quadratic time for a line
 * of many chunks. A line that is too long is dropped and reported at once.
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

/** A call may have 32 artifacts of 256 KiB, and JSON may write one character as six. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

const TOO_LONG = `Ignored a message of more than ${MESSAGE_BYTES_MAX} bytes; it gets no reply. Send less at once.`;

/** Serves MCP on standard input and output until the client disconnects. Nothing is opened before the first call. */
export function serveMcpOnStdio(backend: Backend): { readonly stop: () => Promise<void> } {
  const { log, calls } = backend;
  const lines = wholeLines(MESSAGE_BYTES_MAX, () => log.trouble(TOO_LONG));
  const input = endingAfter(calls);
  // The pipeline passes the end and errors of standard input on to the transport.
  pipeline(process.stdin, lines, input, () => undefined);
  const transport = new StdioServerTransport(input, process.stdout, { maxBufferSize: MESSAGE_BYTES_MAX });
  const serving = serveStdio(
    () => {
      // The timer fires after the first reply is sent; then there is time to load what the next call needs.
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

/** Passes everything through, but ends only when every call is answered, so that a file piped into the server gets replies. */
function endingAfter(calls: CallsUnderWay): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => done(null, chunk),
    flush: (done) => {
      calls.settled().then(() => done(), done);
    },
  });
}

/** The library's words for JSON that is not a message fill a page. */
function wordsFor({ name, message }: Error): string {
  return name === 'ZodError' ? 'Ignored a line that is not a single protocol message.' : message;
}
