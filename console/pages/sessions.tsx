import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { SESSION_STATES, type SessionState } from '../../src/core/sessions/session-state.ts';
import { plural, shellWord } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { Button, CommandHint, CopyButton, ErrorPanel, FileButton, SearchField, Select } from '../parts/panels.tsx';
import { StateMark, stateWord } from '../parts/state-mark.tsx';
import { BASE, IS_TEAM, read } from '../state/api.ts';
import { useChosen } from '../state/looks.ts';
import { readSessionsSearch, type SessionsSearch } from '../state/search.ts';
import { offeredFile } from '../state/told.ts';
import { SessionRows } from './session-rows.tsx';

const WINDOW = 100;

export function Sessions() {
  const asked = useSearch({ from: '/' });
  const { q, state, sort, group } = asked;
  const navigate = useNavigate({ from: '/' });
  // Rows are measured once.
  const density = useChosen('density');
  const listed = useInfiniteQuery({
    queryKey: ['sessions', q, state, sort, group],
    queryFn: ({ pageParam }) => read('sessions', {}, { q, state, sort, group, offset: pageParam, limit: WINDOW }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const seen = pages.reduce((sum, { rows }) => sum + rows.length, 0);
      return seen < total ? seen : undefined;
    },
    placeholderData: keepPreviousData,
  });
  const choose = (next: SessionsSearch) => void navigate({ search: next, replace: true });
  const change = (part: { readonly [key in keyof SessionsSearch]?: string | undefined }) =>
    choose(readSessionsSearch({ ...asked, ...part }));
  const first = listed.data?.pages[0];
  if (first === undefined && listed.error === null) return <p className="meta">Reading the sessions …</p>;
  if (first?.stored === 0) return <NoSessions />;
  const rows = listed.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <>
      <header className="page-head">
        <h1>Sessions</h1>
        <SearchField
          label="Filter the sessions"
          hint="Find by words, or state:blocked wf:coding repo:api after:2d"
          words={q ?? ''}
          onWords={(words) => change({ q: words })}
          onDone={() => document.querySelector<HTMLElement>('.list')?.focus()}
        />
        <ImportButton />
      </header>
      <div className="list-tools">
        <StateChips counts={first?.counts ?? {}} chosen={state} onChoose={(next) => change({ state: next })} />
        <WordChips q={q ?? ''} onFilter={(words) => change({ q: words })} />
        <SavedViews asked={asked} onChoose={choose} />
        <Select label="Sort" value={sort} options={SORTS} onPick={(next) => change({ sort: next })} />
        <Select label="Group" value={group} options={GROUPS} onPick={(next) => change({ group: next })} />
      </div>
      <ErrorPanel error={listed.error} />
      {first === undefined ? null : rows.length === 0 ? (
        <p className="panel">None of {plural(first.stored, 'session')} matches.</p>
      ) : (
        <SessionRows
          key={density}
          rows={rows}
          groups={first.groups}
          grouping={group}
          total={first.total}
          view={JSON.stringify(asked)}
          onEnd={() => void (listed.hasNextPage && !listed.isFetchingNextPage && listed.fetchNextPage())}
        />
      )}
      <CommandHint command={commandFor(asked)} />
    </>
  );
}

/** The command that shows the same. */
function commandFor({ q, state }: SessionsSearch): string {
  const words = [...(state === undefined ? [] : [`state:${state}`]), ...(q?.split(/\s+/) ?? [])].filter(Boolean);
  const named = words.map(shellWord).join(' ');
  return `workrail session list --all${named === '' ? '' : ` ${named}`}`;
}

type Chips = {
  readonly counts: ConsoleReply<'sessions'>['counts'];
  readonly chosen: SessionState | undefined;
  readonly onChoose: (state: SessionState | undefined) => void;
};

function StateChips({ counts, chosen, onChoose }: Chips) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = SESSION_STATES.filter((state) => (counts[state] ?? 0) > 0 || state === chosen);
  return (
    <div className="chips" role="group" aria-label="State">
      <button type="button" aria-pressed={chosen === undefined} onClick={() => onChoose(undefined)}>
        all <span className="meta">{all}</span>
      </button>
      {shown.map((state) => (
        <button key={state} type="button" aria-pressed={chosen === state} onClick={() => onChoose(state)}>
          <StateMark name={state} /> <span className="meta">{counts[state] ?? 0}</span>
        </button>
      ))}
    </div>
  );
}

/** The parts of the filter that restrict it, each with a way to take it away. */
function WordChips({ q, onFilter }: { readonly q: string; readonly onFilter: (words: string) => void }) {
  const words = q.split(/\s+/).filter((word) => /^(?:state|wf|repo|branch|after):/.test(word));
  if (words.length === 0) return null;
  const without = (gone: string) =>
    q
      .split(/\s+/)
      .filter((word) => word !== gone)
      .join(' ');
  return (
    <div className="chips" role="group" aria-label="Filters">
      {words.map((word) => (
        <button key={word} type="button" aria-label={`Remove ${word}`} onClick={() => onFilter(without(word))}>
          {word} <span aria-hidden="true">×</span>
        </button>
      ))}
    </div>
  );
}

const VIEWS = 'workrail-views';

type ViewParts = { readonly asked: SessionsSearch; readonly onChoose: (to: SessionsSearch) => void };

/** Filters that this browser keeps. A view is its address, so its name is what it asks for. */
function SavedViews({ asked, onChoose }: ViewParts) {
  const [saved, setSaved] = useState(() => (localStorage.getItem(VIEWS) ?? '').split('\n').filter(Boolean));
  const now = new URLSearchParams(asked).toString();
  const keep = (views: string[]) => {
    setSaved(views);
    localStorage.setItem(VIEWS, views.join('\n'));
  };
  const isSaved = saved.includes(now);
  const turn = () => keep(isSaved ? saved.filter((view) => view !== now) : [...saved, now]);
  const searchOf = (view: string) => readSessionsSearch(Object.fromEntries(new URLSearchParams(view)));
  return (
    <div className="chips" role="group" aria-label="Saved views">
      {saved.map((view) => (
        <Button
          key={view}
          label={viewWords(searchOf(view))}
          aria-pressed={view === now}
          onClick={() => onChoose(searchOf(view))}
        />
      ))}
      {now !== '' && (
        <Button label={isSaved ? 'Forget this view' : 'Save this view'} className="quiet" onClick={turn} />
      )}
    </div>
  );
}

function viewWords({ q, state, sort, group }: SessionsSearch): string {
  const words = [state && stateWord(state), q, sort && `by ${SORTS[sort]}`, group && `grouped by ${GROUPS[group]}`];
  return words.filter(Boolean).join(', ');
}

const SORTS = { recent: 'latest activity', started: 'start', title: 'title', state: 'most urgent' } as const;
const GROUPS = { none: 'none', repository: 'repository', day: 'day', workflow: 'workflow' } as const;

function ImportButton() {
  if (IS_TEAM) return null;
  const hint = 'Or drop the file anywhere';
  return <FileButton label="Import …" title={hint} what="A bundle to import" onFile={offeredFile.set} />;
}

const FIRST_PROMPT = 'Use WorkRail to run the workflow wr.first_steps here.';

function NoSessions() {
  return IS_TEAM ? <NoTeamSessions /> : <NoOwnSessions />;
}

function NoTeamSessions() {
  const address = `${location.origin}${BASE}`;
  return (
    <section className="panel empty">
      <h1>No sessions yet</h1>
      <p>A session appears here as soon as an agent of your team starts a workflow. To connect yours:</p>
      <CommandHint command={`claude mcp add workrail -- workrail connect ${address}`} isOfTeam />
      <p>Then tell your agent:</p>
      <blockquote>
        {FIRST_PROMPT} <CopyButton text={FIRST_PROMPT} />
      </blockquote>
    </section>
  );
}

function NoOwnSessions() {
  const { data } = useQuery({ queryKey: ['clients'], queryFn: () => read('clients') });
  return (
    <section className="panel empty">
      <h1>No sessions yet</h1>
      <p>A session appears here as soon as an agent starts a workflow. To try it, tell your agent:</p>
      <blockquote>
        {FIRST_PROMPT} <CopyButton text={FIRST_PROMPT} />
      </blockquote>
      {data?.clients.map(({ id, name, isRegistered }) => (
        <div key={id}>
          <p>
            <span className="strong">{name}</span>{' '}
            {isRegistered ? 'knows WorkRail: paste it into a new chat.' : 'does not know WorkRail yet. First run:'}
          </p>
          {isRegistered ? null : <CommandHint command={`workrail init --client ${id}`} />}
        </div>
      ))}
      <p>Or watch a scripted agent. It works in a folder of its own, and says how to look at its session:</p>
      <CommandHint command="workrail demo --keep" />
      <p>
        A bundle from another machine can be imported: drop it here. <ImportButton />
      </p>
    </section>
  );
}
