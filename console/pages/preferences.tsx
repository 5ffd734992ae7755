import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Autonomy, RiskPolicy } from '../../src/core/log/autonomy.ts';
import { inWords } from '../../src/core/report/report-words.ts';
import type { RunPageData } from '../../src/core/wire/run-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { useSource } from '../state/session-source.ts';

type Parts = { readonly page: RunPageData; readonly standing: RunData; readonly isWhole: boolean };

/** Modes with what the agent reads about them, the most cautious first. */
const MODES: readonly (readonly [mode: Autonomy, words: string])[] = [
  ['guided', 'The agent asks you where the workflow says so, and waits for what only you can provide.'],
  ['full_auto_stop_on_user_deps', 'The agent confirms steps by itself, and stops for what only you can provide.'],
  ['full_auto_never_stop', 'The agent never stops. What it cannot provide is recorded as a follow-up.'],
];

const RISKS: readonly (readonly [risk: RiskPolicy, words: string])[] = [
  ['conservative', 'Warnings come with the most advice.'],
  ['balanced', 'Warnings come with some advice.'],
  ['aggressive', 'Warnings are short.'],
];

const SETTERS: { readonly [setter in NonNullable<RunPageData['preferences']['setBy']>]: string } = {
  person: 'set by a person',
  settings: 'from your settings',
  command: 'set on the command line',
  agent: 'set by the agent',
  policy: 'set by policy',
  environment: 'set by the environment',
  workflow_recommendation: 'recommended by the workflow',
  system: 'the default',
};

/** How much the agent may do on its own in this run: what holds now, since when, and a change for its next attempt. */
export function Preferences({ page, standing, isWhole }: Parts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { own } = useSource();
  const { autonomy, isPending } = page.preferences;
  const isOver = standing.status === 'complete' || standing.status === 'complete_with_gaps';
  return (
    <>
      <button type="button" className="quiet preferences-button" onClick={() => dialog.current?.showModal()}>
        {inWords(autonomy)}
        {isPending ? ' (pending)' : ''}
      </button>
      <dialog ref={dialog} className="preferences" aria-labelledby="preferences-title">
        <h2 id="preferences-title">Mode of this run</h2>
        <InForce page={page} standing={standing} />
        {own === undefined || isOver || !isWhole ? (
          <p className="meta">
            {isOver ? 'The run is complete, so its mode no longer matters.' : 'This run cannot be changed here.'}
          </p>
        ) : (
          <Change page={page} standing={standing} />
        )}
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function InForce({ page, standing }: Pick<Parts, 'page' | 'standing'>) {
  const { autonomy, riskPolicy, setBy, since, isPending, recommended } = page.preferences;
  const at =
    since === undefined
      ? ''
      : since.number === undefined
        ? ` "${since.title}"`
        : ` step ${since.number} "${since.title}"`;
  const due =
    standing.place.kind === 'step'
      ? `step ${standing.place.position ?? ''} "${standing.place.title}"`
      : 'the next step';
  return (
    <div className="in-force">
      <p>
        <strong>{inWords(autonomy)}</strong>, {riskPolicy} risk policy
        {setBy === undefined ? '' : `, ${SETTERS[setBy]}`}
        {at === '' ? '' : `, since${at}`}.
      </p>
      {isPending ? (
        <p role="status">Pending: it applies to the next attempt at {due}. Steps before it stay as they are.</p>
      ) : null}
      {recommended.autonomy === undefined ? null : (
        <p className="meta">The workflow recommends {inWords(recommended.autonomy)} at most.</p>
      )}
    </div>
  );
}

function Change({ page, standing }: Pick<Parts, 'page' | 'standing'>) {
  const { own } = useSource();
  const queries = useQueryClient();
  const now = page.preferences;
  const [mode, setMode] = useState<Autonomy>(now.autonomy);
  const [riskPolicy, setRisk] = useState<RiskPolicy>(now.riskPolicy);
  const [isConfirmed, setConfirmed] = useState(false);
  const isLoosening =
    modeIndex(mode) > modeIndex(now.autonomy) ||
    riskIndex(riskPolicy) > riskIndex(now.riskPolicy) ||
    (mode === 'full_auto_never_stop' && now.setBy !== 'person');
  const sent = useMutation({
    mutationFn: async () =>
      own?.prefer(page.runId, { ...(mode === now.autonomy && !isLoosening ? {} : { mode }), riskPolicy, isLoosening }),
    onSuccess: () => {
      setConfirmed(false);
      return queries.invalidateQueries();
    },
  });
  const isChanged = mode !== now.autonomy || riskPolicy !== now.riskPolicy;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        sent.mutate();
      }}
    >
      <fieldset>
        <legend>From the next attempt on</legend>
        {MODES.map(([name, words]) => (
          <label key={name} className="choice">
            <input type="radio" name="mode" checked={mode === name} onChange={() => setMode(name)} />
            <span>
              {inWords(name)} <span className="meta choice-words">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Risk policy</legend>
        {RISKS.map(([name, words]) => (
          <label key={name} className="choice">
            <input type="radio" name="risk" checked={riskPolicy === name} onChange={() => setRisk(name)} />
            <span>
              {name} <span className="meta choice-words">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {isChanged && isLoosening ? (
        <label className="choice loosening">
          <input type="checkbox" checked={isConfirmed} onChange={({ target }) => setConfirmed(target.checked)} />
          <span>The agent may do more on its own then. It stays so until you change it back here.</span>
        </label>
      ) : null}
      <button type="submit" className="main" disabled={!isChanged || (isLoosening && !isConfirmed) || sent.isPending}>
        Change the mode
      </button>
      {sent.error === null ? null : <ErrorPanel error={sent.error} />}
      {sent.data?.cappedTo === undefined ? null : (
        <p role="status">Your settings allow at most {inWords(sent.data.cappedTo)}.</p>
      )}
      <p className="meta">
        The agent reads in its next reply: <code>{mode === 'guided' ? mode : `${mode} (set by a person)`}</code>
      </p>
      <CommandHint command={`workrail session prefer ${standing.tag} ${mode}`} />
    </form>
  );
}

function modeIndex(mode: Autonomy): number {
  return MODES.findIndex(([name]) => name === mode);
}

function riskIndex(risk: RiskPolicy): number {
  return RISKS.findIndex(([name]) => name === risk);
}
