import { createContext, useContext } from 'react';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { read, write } from './api.ts';
import { isViewed } from './viewed.ts';

/** A window of the notes of a line: from a number on, or around a step. */
export type NotesWindow = { readonly line: string; readonly from?: number; readonly around?: string };

/** The node that was made when the step was done, and the line. */
export type StepAsked = { readonly by?: string | undefined; readonly line: string };

/** Where the page of a session reads from: the server, or a file that was opened in this browser. */
export type SessionSource = {
  /** The first part of the keys of its queries. */
  readonly name: string;
  readonly session: () => Promise<ConsoleReply<'session'>>;
  readonly run: (run: string) => Promise<ConsoleReply<'run'>>;
  readonly notes: (run: string, window: NotesWindow) => Promise<ConsoleReply<'notes'>>;
  readonly step: (node: string, asked: StepAsked) => Promise<ConsoleReply<'step'>>;
  readonly prompt: (node: string) => Promise<ConsoleReply<'prompt'>>;
  readonly raw: (node: string, asked: Pick<StepAsked, 'by'>) => Promise<ConsoleReply<'raw'>>;
  /** What only the machine of the session knows, and can do; absent for a file. */
  readonly own?: OwnSession;
};

export type OwnSession = {
  readonly drift: (run: string) => Promise<ConsoleReply<'drift'>>;
  readonly resume: (run: string, asked: { readonly node?: string }) => Promise<ConsoleReply<'resume'>>;
  readonly prefer: (run: string, sent: ConsoleInput<'prefer'>) => Promise<ConsoleReply<'prefer'>>;
};

export function sessionSource(session: string): SessionSource {
  return {
    name: session,
    session: () => read('session', { session }),
    run: (run) => read('run', { session, run }),
    notes: (run, window) => read('notes', { session, run }, window),
    step: (node, asked) => read('step', { session, node }, asked),
    raw: (node, asked) => read('raw', { session, node }, asked),
    prompt: (node) => read('prompt', { session, node }),
    ...(isViewed(session) ? {} : { own: ownSession(session) }),
  };
}

function ownSession(session: string): OwnSession {
  return {
    drift: (run) => read('drift', { session, run }),
    resume: (run, asked) => read('resume', { session, run }, asked),
    prefer: (run, sent) => write('prefer', { session, run }, sent),
  };
}

export const SourceContext = createContext<SessionSource | undefined>(undefined);

export function useSource(): SessionSource {
  const source = useContext(SourceContext);
  if (source === undefined) throw new Error('a part of a session is shown outside of one');
  return source;
}
