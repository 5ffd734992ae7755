import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { ConsoleInput, WaitingItem } from '../../src/core/wire/console-shapes.ts';
import { includesRole } from '../../src/core/wire/team-paths.ts';
import { NotifyButton } from '../parts/look-choices.tsx';
import { Note } from '../parts/note.tsx';
import { Button, CommandHint, ErrorPanel, Json, Pending, SessionLink } from '../parts/panels.tsx';
import { useAbout, useNow } from '../parts/shell.tsx';
import { Mark, StateMark } from '../parts/state-mark.tsx';
import { ago } from '../parts/times.ts';
import { IS_TEAM, read, signInAddress } from '../state/api.ts';
import { Approvers, decide, keepReceipts, SigningNote } from './approvers.tsx';

export function Waiting() {
  const { data, error } = useQuery({ queryKey: ['waiting'], queryFn: () => read('waiting') });
  if (data === undefined) return <Pending words="Looking for what waits …" error={error} isPage />;
  keepReceipts(data.waiting);
  return (
    <>
      <header className="page-head">
        <h1>Waiting for you</h1>
        <NotifyButton />
      </header>
      <Answered waiting={data.waiting} />
      {data.waiting.length === 0 ? (
        <section className="panel empty">
          <p className="strong">Nothing is waiting for you.</p>
          <p>
            When an agent comes to a step that only you can decide, it appears here with exactly what you would approve.
          </p>
        </section>
      ) : (
        data.waiting.map((item) => <Item key={item.digest} item={item} />)
      )}
      <NeedsLook waiting={data.waiting} />
      <CommandHint command="workrail waiting" />
      {!IS_TEAM && <Approvers />}
    </>
  );
}

const LOOK_AT = 'state:blocked,damaged,salvaged';
const TRIED_OFTEN = 3;

/** What no answer solves and a person should still look at: steps that are blocked again and again, and damage. */
function NeedsLook({ waiting }: { readonly waiting: readonly WaitingItem[] }) {
  const { data } = useQuery({
    queryKey: ['needs-look'],
    queryFn: () => read('sessions', {}, { q: LOOK_AT, sort: 'state', limit: 200 }),
  });
  const waits = new Set(waiting.map(({ sessionId }) => sessionId));
  const rows = (data?.rows ?? []).filter(
    ({ sessionId, state, attempts }) => !waits.has(sessionId) && (state !== 'blocked' || attempts >= TRIED_OFTEN),
  );
  if (rows.length === 0) return null;
  return (
    <section className="panel" aria-label="Worth a look">
      <h2>Worth a look</h2>
      <ul className="plain">
        {rows.map(({ sessionId, state, title, attempts, shortId, step }) => (
          <li key={sessionId}>
            <StateMark name={state} /> <SessionLink session={sessionId}>{title ?? 'cannot be read'}</SessionLink>{' '}
            <span className="meta">
              {state === 'blocked' ? (
                `"${step?.title ?? 'the step'}" was blocked ${attempts} times`
              ) : (
                <code>workrail session verify {shortId}</code>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Given = Pick<WaitingItem, 'sessionId' | 'digest' | 'stepTitle'> & { readonly words: string };

/** What was answered here since the page was loaded. */
const given: Given[] = [];

/** Whether the agent has seen what was answered, and where it is now. */
function Answered({ waiting }: { readonly waiting: readonly WaitingItem[] }) {
  const open = new Set(waiting.map(({ digest }) => digest));
  const seen = given.filter(({ digest }) => !open.has(digest));
  return seen.map((one) => <Seen key={one.digest} given={one} />);
}

function Seen({ given: { sessionId, stepTitle, words } }: { readonly given: Given }) {
  const now = useNow();
  const { data } = useQuery({
    queryKey: ['seen', sessionId],
    queryFn: () => read('sessions', {}, { q: sessionId, limit: 1 }),
  });
  const [row] = data?.rows ?? [];
  const step = row?.step;
  const at = step && ` It is at ${step.index === undefined ? '' : `step ${step.index} `}"${step.title}" now.`;
  const since = row?.lastAt === undefined ? '' : ` ${ago(row.lastAt, now)}`;
  return (
    <p className="banner" role="status">
      "{stepTitle}": {words}. The agent has seen it{since}.{row?.state === 'complete' ? ' The run is done.' : at}{' '}
      <SessionLink session={sessionId}>open the session</SessionLink>
    </p>
  );
}

function Item({ item }: { readonly item: WaitingItem }) {
  const now = useNow();
  const title = useId();
  const { goal, workflow, stepTitle, question, folder, draft, files, voided, answered, lastAt, tag, code, origin } =
    item;
  const { owner, standing } = item;
  return (
    <article className="panel waiting-item" aria-labelledby={title}>
      <h2 id={title}>
        <Mark name="waiting" /> {stepTitle}
      </h2>
      <p className="meta">
        {[goal, workflow, owner && `run of ${owner}`, folder, lastAt && ago(lastAt, now), `run ${tag}`]
          .filter(Boolean)
          .join(' · ')}{' '}
        · <SessionLink session={item.sessionId}>open the session</SessionLink>
      </p>
      {origin && <p className="warning">Not from this machine: {origin}.</p>}
      {question !== stepTitle && <p className="strong">{question}</p>}
      {voided && <p className="warning">{voided}</p>}
      {/* Not among what the agent wrote: nothing in a draft may be taken for one of these lines. */}
      {standing.map((line, i) => (
        <p key={i}>{line}</p>
      ))}
      <section className="draft" aria-label={`What you would approve, draft ${code}`}>
        <p className="meta">What the agent wrote. Draft {code}.</p>
        {draft.notes === undefined ? <p className="meta">No notes.</p> : <Note text={draft.notes} />}
        {Object.keys(draft.context).length > 0 && (
          <>
            <h3>Values that would change</h3>
            <Json value={draft.context} />
          </>
        )}
        {draft.artifacts.map(({ kind, value }, i) => (
          <div key={i}>
            <h3>{kind ?? 'Artifact'}</h3>
            <Json value={value} />
          </div>
        ))}
        {files.map((line) => (
          <p key={line} className="meta">
            {line}
          </p>
        ))}
        <details>
          <summary>Raw</summary>
          <p className="meta break">{item.digest}</p>
        </details>
      </section>
      {answered && (
        <p className="warning">Already {answered}. Waiting for the agent to look; a new answer takes its place.</p>
      )}
      <Decision item={item} />
    </article>
  );
}

/** The form, or why this person cannot decide here and now. */
function Decision({ item }: { readonly item: WaitingItem }) {
  const now = useNow();
  const about = useAbout();
  if (about?.team !== undefined) {
    const { role, freshUntil } = about.team;
    if (!includesRole(role, 'approver')) {
      return <p className="warning">Only approvers decide here, and you are {role}. Ask an admin of the space.</p>;
    }
    if (now <= freshUntil) return <AnswerForm item={item} />;
    return (
      <p className="warning">
        You signed in more than 15 minutes ago. <a href={signInAddress('/waiting', true)}>Sign in again</a> to decide.
      </p>
    );
  }
  if (!item.isAccepted) {
    return (
      <p className="warning">
        Answers in the console do not count here: the setting gates.accept leaves "console" out.
      </p>
    );
  }
  if (about?.isAtTerminal !== false) return <AnswerForm item={item} />;
  return (
    <p className="warning">
      This console was not started at a terminal, so it takes no decisions: a program may have started it. Run "workrail
      console" or "workrail answer {item.tag}" in a terminal of your own.
    </p>
  );
}

function AnswerForm({ item }: { readonly item: WaitingItem }) {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const sent = useMutation({
    mutationFn: (answer: Omit<ConsoleInput<'challenge'>, 'digest'>) => decide(item, answer),
    onSuccess: ({ words }) => given.push({ ...item, words }),
    onSettled: () => queries.invalidateQueries(),
  });
  const field = useId();
  const isQuestion = item.contextKey !== undefined;
  const isSigned = item.signing !== undefined;
  const comment = text.trim() === '' ? {} : { comment: text.trim() };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <SigningNote signing={item.signing} tag={item.tag} />
      <label htmlFor={field}>{isQuestion ? 'Your answer' : 'Comment for the agent (optional)'}</label>
      <textarea id={field} rows={2} value={text} onChange={({ target }) => setText(target.value)} />
      <div className="actions">
        {isQuestion ? (
          <Button
            label={isSigned ? 'Answer with a passkey' : 'Answer'}
            className="main"
            disabled={text.trim() === '' || sent.isPending}
            onClick={() => sent.mutate({ decision: 'answered', value: answerValue(text.trim()) })}
          />
        ) : (
          <>
            <Button
              label={isSigned ? 'Approve with a passkey' : 'Approve'}
              className="main"
              disabled={sent.isPending}
              onClick={() => sent.mutate({ decision: 'approved', ...comment })}
            />
            <Button
              label="Reject"
              disabled={sent.isPending}
              onClick={() => sent.mutate({ decision: 'rejected', ...comment })}
            />
          </>
        )}
      </div>
      <ErrorPanel error={sent.error} />
    </form>
  );
}

/** Truth values and numbers are what workflows compare with. */
function answerValue(text: string): string | number | boolean {
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text) ? (JSON.parse(text) as number | boolean) : text;
}
