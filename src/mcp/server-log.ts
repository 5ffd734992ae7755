/** The outcome of a call. It contains nothing that an agent wrote. */
export type CallEntry = {
  readonly tool: string;
  readonly outcome: 'ok' | 'blocked' | 'error';
  readonly code?: string;
  readonly run?: string;
  readonly ms: number;
};

/** The server's log on standard error; standard output belongs to the protocol. */
export type ServerLog = {
  /** A problem that no reply can report. */
  trouble(message: string): void;
  /** Written only if logging is on. */
  call(entry: CallEntry): void;
  event(name: string, facts?: { readonly [name: string]: string | number }): void;
};

type LogOptions = {
  readonly write: (text: string) => void;
  /** A line of JSON for everything that happens, instead of plain text for problems only. */
  readonly isStructured: boolean;
  readonly now: () => Date;
};

export function serverLog({ write, isStructured, now }: LogOptions): ServerLog {
  const line = (level: 'info' | 'error', event: string, facts: object) =>
    write(`${JSON.stringify({ at: now().toISOString(), level, event, ...facts })}\n`);
  if (!isStructured) {
    return { trouble: (message) => write(`workrail: ${message}\n`), call: () => undefined, event: () => undefined };
  }
  return {
    trouble: (message) => line('error', 'trouble', { message }),
    call: (entry) => line(entry.outcome === 'error' ? 'error' : 'info', 'call', entry),
    event: (name, facts = {}) => line('info', name, facts),
  };
}
