import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Autonomy, RiskPolicy } from '../../src/core/log/autonomy.ts';
import { inWords } from '../../src/core/report/report-words.ts';
import type { RunPageData } from '../../src/core/wire/run-shapes.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Button, CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { write } from '../state/api.ts';
import { useSessionId } from '../state/session-source.ts';

type Parts = { readonly page: RunPageData; readonly standing: RunData; readonly isWhole: boolean };

/** Modes with what the agent reads about them, the most cautious first. */
const MODES: Options<Autonomy> = [
  ['guided', 'The agent asks you where the workflow says so, and waits for what only you can provide.'],
  ['full_auto_stop_on_user_deps', 'The agent confirms steps by itself, and stops for what only you can provide.'],
  ['full_auto_never_stop', 'The agent never stops. What it cannot provide is recorded as a follow-up.'],
];

const RISKS: Options<RiskPolicy> = [
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
  const [isOpen, setOpen] = useState(false);
  const { isOwn } = useSessionId();
  const { autonomy, isPending } = page.preferences;
  const isOver = standing.status === 'complete' || standing.status === 'complete_with_gaps';
  const label = `${inWords(autonomy)}${isPending ? ' (pending)' : ''}`;
  return (
    <>
      <Button label={label} className="quiet preferences-button" onClick={() => setOpen(true)} />
      {isOpen && (
        <Dialog title="Mode of this run" className="preferences" onClose={() => setOpen(false)}>
          <InForce page={page} standing={standing} />
          {!isOwn || isOver || !isWhole ? (
            <p className="meta">
              {isOver ? 'The run is complete, so its mode no longer matters.' : 'This run cannot be changed here.'}
            </p>
          ) : (
            <Change page={page} standing={standing} />
          )}
          <Button label="Close" onClick={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function InForce({ page, standing }: Pick<Parts, 'page' | 'standing'>) {
  const { autonomy, riskPolicy, setBy, since, isPending, recommended } = page.preferences;
  const { place } = standing;
  const at = since && `${since.number === undefined ? '' : `step ${since.number} `}"${since.title}"`;
  const due = place.kind === 'step' ? `step ${place.position ?? ''} "${place.title}"` : 'the next step';
  return (
    <div className="in-force">
      <p>
        <strong>{inWords(autonomy)}</strong>, {riskPolicy} risk policy
        {setBy === undefined ? '' : `, ${SETTERS[setBy]}`}
        {at && `, since ${at}`}.
      </p>
      {isPending && (
        <p role="status">Pending: it applies to the next attempt at {due}. Steps before it stay as they are.</p>
      )}
      {recommended.autonomy && <p className="meta">The workflow recommends {inWords(recommended.autonomy)} at most.</p>}
    </div>
  );
}

function Change({ page, standing }: Pick<Parts, 'page' | 'standing'>) {
  const { session } = useSessionId();
  const queries = useQueryClient();
  const now = page.preferences;
  const [mode, setMode] = useState<Autonomy>(now.autonomy);
  const [riskPolicy, setRisk] = useState<RiskPolicy>(now.riskPolicy);
  const [isConfirmed, setConfirmed] = useState(false);
  const isLoosening =
    isLooser(MODES, mode, now.autonomy) ||
    isLooser(RISKS, riskPolicy, now.riskPolicy) ||
    (mode === 'full_auto_never_stop' && now.setBy !== 'person');
  const sent = useMutation({
    mutationFn: () =>
      write(
        'prefer',
        { session, run: page.runId },
        { ...(mode === now.autonomy && !isLoosening ? {} : { mode }), riskPolicy, isLoosening },
      ),
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
      <Choice title="From the next attempt on" options={MODES} chosen={mode} onChoose={setMode} />
      <Choice title="Risk policy" options={RISKS} chosen={riskPolicy} onChoose={setRisk} />
      {isChanged && isLoosening && (
        <label className="choice warning">
          <input type="checkbox" checked={isConfirmed} onChange={({ target }) => setConfirmed(target.checked)} />
          <span>The agent may do more on its own then. It stays so until you change it back here.</span>
        </label>
      )}
      <button type="submit" className="main" disabled={!isChanged || (isLoosening && !isConfirmed) || sent.isPending}>
        Change the mode
      </button>
      <ErrorPanel error={sent.error} />
      {sent.data?.cappedTo && <p role="status">Your settings allow at most {inWords(sent.data.cappedTo)}.</p>}
      <p className="meta">
        The agent reads in its next reply: <code>{mode === 'guided' ? mode : `${mode} (set by a person)`}</code>
      </p>
      <CommandHint command={`workrail session prefer ${standing.tag} ${mode}`} />
    </form>
  );
}

type Options<Name> = readonly (readonly [name: Name, words: string])[];

type ChoiceParts<Name> = {
  readonly title: string;
  readonly options: Options<Name>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
};

function Choice<Name extends string>({ title, options, chosen, onChoose }: ChoiceParts<Name>) {
  return (
    <fieldset>
      <legend>{title}</legend>
      {options.map(([name, words]) => (
        <label key={name} className="choice">
          <input type="radio" name={title} checked={chosen === name} onChange={() => onChoose(name)} />
          <span>
            {inWords(name)} <span className="meta choice-words">{words}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Whether one choice leaves the agent more freedom than another. */
function isLooser<Name>(options: Options<Name>, choice: Name, than: Name): boolean {
  const place = (name: Name) => options.findIndex(([one]) => one === name);
  return place(choice) > place(than);
}
