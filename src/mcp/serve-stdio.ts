import { pipeline, Transform } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { err } from 'neverthrow';
import {
  excessIn,
  MESSAGE_LIMITS,
  type MessageLimits,
  type MessageRefusal,
  NOT_A_MESSAGE,
  readMessage,
  refusedMessage,
  tooLong,
} from './message-limits.ts';
import { type Backend, type CallsUnderWay, mcpServer, warmUp } from './server.ts';

const NEWLINE = 0x0a;

/**
 * Passes on whole lines only. The library searches its whole buffer for every chunk, which takes quadratic time for a line
 * of many chunks. A line that is too long is dropped and refused at once, one with too many values when it is complete.
 */
export function wholeLines(limits: MessageLimits, onRefused: (refusal: MessageRefusal) => void): Transform {
  const { bytesMax } = limits;
  let parts: Buffer[] = [];
  let length = 0;

  function take(part: Buffer): void {
    const isFirstTooMuch = length <= bytesMax && length + part.length > bytesMax;
    length += part.length;
    if (length <= bytesMax) parts.push(part);
    else parts = [];
    if (isFirstTooMuch) onRefused(tooLong(limits));
  }

  function pass(stream: Transform, line: Buffer): void {
    const text = line.toString().trim();
    if (text === '') return;
    const excess = excessIn(line, limits);
    const read = excess === undefined ? readMessage(text) : err(excess);
    // What surrounds the message is left out: the library drops a line with a byte order mark, and says nothing.
    const isAsSent = (message: string) => message === text && line.length === Buffer.byteLength(text) + 1;
    read.match((message) => stream.push(isAsSent(message) ? line : Buffer.from(`${message}\n`)), onRefused);
  }

  return new Transform({
    transform(chunk: Buffer, _, done) {
      let at = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
        take(chunk.subarray(at, end + 1));
        if (parts.length > 0) pass(this, Buffer.concat(parts));
        parts = [];
        length = 0;
        at = end + 1;
      }
      if (at < chunk.length) take(chunk.subarray(at));
      done();
    },
  });
}

/** Standard input and output as a transport. What is too large or no message is refused; the end waits for calls. */
export function stdioTransport(calls: CallsUnderWay, trouble: (message: string) => void): StdioServerTransport {
  const lines = wholeLines(MESSAGE_LIMITS, refuserTo(trouble));
  const input = endingAfter(calls);
  // The pipeline passes the end and errors of standard input on to the transport.
  pipeline(process.stdin, lines, input, () => undefined);
  return new StdioServerTransport(input, process.stdout, { maxBufferSize: MESSAGE_LIMITS.bytesMax });
}

function refuserTo(trouble: (message: string) => void): (refusal: MessageRefusal) => void {
  return (refusal) => {
    trouble(refusal.message);
    process.stdout.write(`${JSON.stringify(refusedMessage(refusal))}\n`);
  };
}

/** Serves MCP on standard input and output until the client disconnects. Nothing is opened before the first call. */
export function serveMcpOnStdio(backend: Backend): { readonly stop: () => Promise<void> } {
  const { log, calls } = backend;
  const refuse = refuserTo(log.trouble);
  const transport = stdioTransport(calls, log.trouble);
  const serving = serveStdio(
    () => {
      // The timer fires after the first reply is sent; then there is time to load what the next call needs.
      setTimeout(() => warmUp(backend).catch((cause: unknown) => log.trouble(String(cause))), 0).unref();
      return mcpServer(backend);
    },
    // The library's words for JSON that is not a message fill a page.
    { transport, onerror: (cause) => (cause.name === 'ZodError' ? refuse(NOT_A_MESSAGE) : log.trouble(cause.message)) },
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
