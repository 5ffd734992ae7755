import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import type { RehearsedCall, RehearsedTurn } from '../../src/core/wire/editor-shapes.ts';
import { Button, CommandHint, Pending, Select } from '../parts/panels.tsx';
import { write } from '../state/api.ts';
import { type EditedTexts, MODES, type Mode } from './preview.tsx';

type Rehearsed = ConsoleReply<'rehearse'>;

type Parts = {
  readonly texts: EditedTexts;
  readonly command: string;
  /** Adds a scenario to the tests. */
  readonly onKeep: (scenario: object) => void;
};

/** The workflow turn by turn, with the person at the page in place of the agent. Nothing is stored. */
export function Rehearse({ texts, command, onKeep }: Parts) {
  const [mode, setMode] = useState<Mode>('guided');
  const [goal, setGoal] = useState('');
  const [sent, setSent] = useState<readonly RehearsedCall[] | undefined>(undefined);
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['rehearse', texts, mode, goal, sent],
    queryFn: () => write('rehearse', {}, { ...texts, mode, sent: sent ?? [], ...(goal !== '' && { goal }) }),
    enabled: sent !== undefined,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  if (sent === undefined) {
    return (
      <form
        className="rehearse"
        onSubmit={(event) => {
          event.preventDefault();
          setSent([]);
        }}
      >
        <CommandHint command={command} />
        <p>Play the agent: read what each step asks for, fill in the blanks, and see what the engine makes of it.</p>
        <label>
          <span>Goal (optional)</span>
          <input type="text" value={goal} onChange={({ target }) => setGoal(target.value)} />
        </label>
        <Select label="Mode" value={mode} options={MODES} onPick={(one) => setMode(one as Mode)} />
        <p className="actions">
          <button type="submit" className="main">
            Start the rehearsal
          </button>
        </p>
      </form>
    );
  }
  if (error !== null || data === undefined) {
    return (
      <>
        <Pending words="Playing the workflow …" error={error} />
        {error !== null && <Button label="Start again" onClick={() => setSent(undefined)} />}
      </>
    );
  }
  const last = data.turns.at(-1);
  const keep = () => onKeep(scenarioOf(data, { mode, goal, sent }));
  return (
    <div className="rehearse">
      <Turns turns={data.turns.slice(0, -1)} />
      {last !== undefined && <CurrentTurn turn={last} />}
      {data.stuck !== undefined && <p className="warning">It cannot continue: {data.stuck}.</p>}
      {data.isComplete ? (
        <Ended key={sent.length} data={data} onKeep={keep} />
      ) : (
        <NextCall
          key={`${sent.length} ${last?.text.length}`}
          data={data}
          isBusy={isPlaceholderData}
          onSend={(given) => setSent([...sent, given])}
          onAnswer={(person) => setSent(answered(sent, person))}
        />
      )}
      <p className="actions">
        <Button label="Back one turn" disabled={sent.length === 0} onClick={() => setSent(sent.slice(0, -1))} />
        <Button label="Start again" onClick={() => setSent(undefined)} />
      </p>
    </div>
  );
}

/** A person's answer is about what was handed in last, and the agent then sends just that again. */
function answered(
  sent: readonly RehearsedCall[],
  person: NonNullable<RehearsedCall['person']>,
): readonly RehearsedCall[] {
  const last = sent.at(-1);
  return last === undefined ? sent : [...sent.slice(0, -1), { ...last, person }, last];
}

function Turns({ turns }: { readonly turns: readonly RehearsedTurn[] }) {
  if (turns.length === 0) return null;
  return (
    <ol className="plain turns" aria-label="Turns so far">
      {turns.map(({ title, kind }, i) => (
        <li key={i} className={kind}>
          {title} <span className="meta">{kind === 'blocked' ? 'blocked' : 'asked'}</span>
        </li>
      ))}
    </ol>
  );
}

function CurrentTurn({ turn: { title, index, of, kind, text, blockers } }: { readonly turn: RehearsedTurn }) {
  const shown = useRef<HTMLElement>(null);
  // The form that was just handed in is below: without this, its author would not see that it blocks.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn is shown from its start.
  useEffect(() => shown.current?.scrollIntoView({ block: 'start' }), [text, kind]);
  const place = index === undefined ? '' : `Step ${index}${of === undefined ? '' : ` of ${of}`}: `;
  return (
    <section ref={shown} aria-label="This turn">
      <h3>
        {place}
        {title}
      </h3>
      {kind === 'blocked' && (
        <div className="banner lacking" role="alert">
          {blockers.map(({ code, message, suggestedFix }, i) => (
            <p key={i} className="blocker">
              <span className="badge">{code}</span> {message} {suggestedFix}
            </p>
          ))}
        </div>
      )}
      <pre className="prompt" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

type FormParts = {
  readonly data: Rehearsed;
  readonly isBusy: boolean;
  readonly onSend: (given: RehearsedCall) => void;
  readonly onAnswer: (person: NonNullable<RehearsedCall['person']>) => void;
};

function NextCall(parts: FormParts) {
  return parts.data.waitsForPerson ? <PersonAnswer onAnswer={parts.onAnswer} /> : <Form {...parts} />;
}

function PersonAnswer({ onAnswer }: Pick<FormParts, 'onAnswer'>) {
  const [value, setValue] = useState('');
  return (
    <section aria-label="A person's answer">
      <p>Only a person can answer now. In a rehearsal, that is you.</p>
      <label>
        <span>Answer, if a value is asked for</span>
        <input type="text" value={value} onChange={({ target }) => setValue(target.value)} />
      </label>
      <p className="actions">
        <Button
          label={value === '' ? 'Approve' : 'Answer'}
          className="main"
          onClick={() => onAnswer(value === '' ? 'approve' : { value })}
        />
        <Button label="Reject" onClick={() => onAnswer('reject')} />
      </p>
    </section>
  );
}

/** What the step asks for, with its blanks. */
function Form({ data: { form, sample }, isBusy, onSend }: FormParts) {
  const [notes, setNotes] = useState(form?.notes ?? '');
  const [artifacts, setArtifacts] = useState(asText(form?.artifacts ?? []));
  const [context, setContext] = useState(asText(form?.context ?? {}));
  const given = handedIn({ notes, artifacts, context });
  if (form === undefined) return <p className="warning">The engine offers no call from here.</p>;
  const fill = () => {
    setNotes(sample?.notes ?? '');
    setArtifacts(asText(sample?.artifacts ?? []));
    setContext(asText(sample?.context ?? {}));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (given !== undefined) onSend(given);
      }}
    >
      <Area label="Notes" value={notes} rows={4} onText={setNotes} />
      {(form.artifacts.length > 0 || artifacts !== '[]') && (
        <Area label="Artifacts, as a JSON list" value={artifacts} rows={8} isCode onText={setArtifacts} />
      )}
      <details open={form.context !== undefined}>
        <summary>Context</summary>
        <Area label="Context, as a JSON object" value={context} rows={3} isCode onText={setContext} />
      </details>
      {given === undefined && <p className="warning">Artifacts need a JSON list of objects, and context an object.</p>}
      <p className="actions">
        <Button label="Fill in samples" disabled={sample === undefined} onClick={fill} />
        <button type="submit" className="main" disabled={given === undefined || isBusy}>
          Hand it in
        </button>
      </p>
    </form>
  );
}

type AreaParts = {
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  readonly isCode?: boolean;
  readonly onText: (text: string) => void;
};

function Area({ label, value, rows, isCode = false, onText }: AreaParts) {
  return (
    <label>
      <span>{label}</span>
      <textarea
        className={isCode ? 'code' : ''}
        rows={rows}
        value={value}
        onChange={({ target }) => onText(target.value)}
      />
    </label>
  );
}

function asText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** What is handed in, if the JSON in it can be read. */
function handedIn(typed: { readonly notes: string; readonly artifacts: string; readonly context: string }) {
  try {
    const artifacts: unknown = JSON.parse(typed.artifacts);
    const context: unknown = JSON.parse(typed.context);
    const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!Array.isArray(artifacts) || !artifacts.every(isObject) || !isObject(context)) return undefined;
    return {
      ...(typed.notes !== '' && { notes: typed.notes }),
      artifacts: artifacts as RehearsedCall['artifacts'],
      ...(Object.keys(context as object).length > 0 && { context: context as NonNullable<RehearsedCall['context']> }),
    };
  } catch {
    return undefined;
  }
}

function Ended({ data, onKeep }: { readonly data: Rehearsed; readonly onKeep: () => void }) {
  const [isKept, setKept] = useState(false);
  return (
    <section aria-label="How it ended">
      <p className="strong">The run is complete.</p>
      <p className="meta">Steps: {data.path.join(' → ')}</p>
      {data.skipped.length > 0 && <p className="meta">Skipped: {[...new Set(data.skipped)].join(', ')}</p>}
      {data.gaps.map((gap) => (
        <p key={gap} className="warning">
          Left open: {gap}
        </p>
      ))}
      <Button
        label={isKept ? 'Kept as a test' : 'Keep this as a test'}
        disabled={isKept}
        onClick={() => {
          onKeep();
          setKept(true);
        }}
      />
    </section>
  );
}

type Played = { readonly mode: Mode; readonly goal: string; readonly sent: readonly RehearsedCall[] };

/** The rehearsal as a scenario: the same things are handed in at the same steps, and the same path is expected. */
function scenarioOf({ turns, path }: Rehearsed, { mode, goal, sent }: Played): object {
  const steps = sent.map((one, i) => {
    const isBlocked = turns[i + 1]?.kind === 'blocked' && one.person === undefined;
    const codes = turns[i + 1]?.blockers.map(({ code }) => code) ?? [];
    const blocked = isBlocked ? { expect: 'blocked', blockers: [...new Set(codes)] } : {};
    return { at: turns[i]?.stepId ?? '', ...one, ...blocked };
  });
  return {
    name: `rehearsed: ${path.join(', ')}`,
    ...(mode === 'guided' ? {} : { mode }),
    ...(goal === '' ? {} : { goal }),
    steps,
    expect: { path, complete: true },
  };
}
