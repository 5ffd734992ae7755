import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural, shellWord } from '../../src/core/text/words.ts';
import type { ConsoleLine } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { CommandHint, ErrorPanel, SessionLink } from '../parts/panels.tsx';
import { useNow } from '../parts/shell.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { ago } from '../parts/times.ts';
import { Refused, readLines } from '../state/api.ts';
import { markOfRow } from './session-rows.tsx';

type Line = ConsoleLine<'search'>;
type Found = Extract<Line, { kind: 'found' }>;

/** Finds words in the goals, notes and artifacts of all sessions; what is found is shown at once. */
export function Find() {
  const { q = '' } = useSearch({ from: '/search' });
  const navigate = useNavigate({ from: '/search' });
  const field = useRef<HTMLInputElement>(null);
  const { found, last, error } = useFound(q);
  useKeys({ '/': () => field.current?.select() });
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <header className="page-head">
        <h1>Search</h1>
        <form
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            const words = field.current?.value.trim() ?? '';
            void navigate({ search: words === '' ? {} : { q: words } });
          }}
        >
          <input
            key={q}
            ref={field}
            type="search"
            aria-label="Words that must all occur"
            placeholder="Words in goals, notes and artifacts"
            defaultValue={q}
          />
          <button type="submit">Find</button>
        </form>
      </header>
      <p className="meta" role="status">
        {statusWords(q, found.length, last)}
      </p>
      <ErrorPanel error={error} />
      {found.map((one) => (
        <Hit key={one.session.sessionId} found={one} />
      ))}
      {q !== '' && <CommandHint command={`workrail search ${q.split(/\s+/).map(shellWord).join(' ')}`} />}
    </>
  );
}

function useFound(q: string) {
  const [found, setFound] = useState<readonly Found[]>([]);
  const [last, setLast] = useState<Line | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  useEffect(() => {
    setFound([]);
    setLast(undefined);
    setError(undefined);
    if (q === '') return undefined;
    const stop = new AbortController();
    const look = async () => {
      for await (const line of readLines('search', { q }, { signal: stop.signal })) {
        if (line.kind === 'refused') setError(new Refused(line.error, 409));
        if (line.kind === 'found') setFound((before) => [...before, line].toSorted((a, b) => a.tier - b.tier));
        else setLast(line);
      }
    };
    look().catch((failed) => stop.signal.aborted || setError(failed));
    return () => stop.abort();
  }, [q]);
  return { found, last, error };
}

function statusWords(q: string, found: number, last: Line | undefined): string {
  if (q === '') return 'Every word must occur in the session, anywhere in a word.';
  const words = found === 0 ? 'Nothing found' : `${plural(found, 'session')} found`;
  if (last?.kind !== 'done') return `${found === 0 ? 'Searching' : `${words}, searching`} …`;
  const rest = last.total - last.searched - last.unreadable;
  const more = rest > 0 ? ` ${rest} older ones were not read; the command with --all reads them.` : '';
  const broken = last.unreadable > 0 ? ` ${plural(last.unreadable, 'session')} could not be read.` : '';
  return `${words} in ${plural(last.searched, 'session')}.${more}${broken}`;
}

function Hit({ found: { session, hits } }: { readonly found: Found }) {
  const now = useNow();
  const { sessionId, title, lastAt, shortId } = session;
  return (
    <article className="panel hit">
      <h2>
        <SessionLink session={sessionId}>{title ?? 'cannot be read'}</SessionLink>
      </h2>
      <p className="meta">
        <StateMark name={markOfRow(session)} /> {shortId}
        {lastAt === undefined ? '' : ` · ${ago(lastAt, now)}`}
      </p>
      {hits.map(({ where, step, words, snippet, runId }, i) => (
        <p key={i}>
          <span className="meta">{step === undefined ? where : `${where} of "${step}"`}: </span>
          <Link to="/sessions/$session" params={{ session: sessionId }} search={{ run: runId }}>
            <Marked text={snippet} words={words} />
          </Link>
        </p>
      ))}
    </article>
  );
}

/** The words that were looked for, as they were written. */
function Marked({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  const any = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const parts = any === '' ? [text] : text.split(new RegExp(`(${any})`, 'gi'));
  return parts.map((part, i) => {
    const Tag = i % 2 === 1 ? 'mark' : 'span';
    return <Tag key={i}>{visibleText(part)}</Tag>;
  });
}
