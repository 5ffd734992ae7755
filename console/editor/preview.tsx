import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { sizeOf } from '../../src/core/text/words.ts';
import { CommandHint, CopyButton, Pending, Select } from '../parts/panels.tsx';
import { write } from '../state/api.ts';

export type EditedTexts = { readonly path: string; readonly text: string; readonly scenarios?: string };

/** How freely an agent works, as it is asked for in the page. */
export const MODES = {
  guided: 'guided',
  full_auto_stop_on_user_deps: 'full auto, stops for the user',
  full_auto_never_stop: 'full auto, never stops',
} as const;
export type Mode = keyof typeof MODES;

type Parts = {
  readonly texts: EditedTexts;
  readonly command: string;
  /** The step that the cursor is in. */
  readonly at: string | undefined;
};

/** Exactly what an agent reads at a step, with sample values in place of those of a run. */
export function Preview({ texts, command, at }: Parts) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [mode, setMode] = useState<Mode>('guided');
  const [samples, setSamples] = useState<{ readonly [key: string]: string }>({});
  const context = contextOf(samples);
  const { data, error } = useQuery({
    queryKey: ['preview', texts, chosen, mode, context],
    queryFn: () => write('previewText', {}, { ...texts, mode, context, ...(chosen !== undefined && { step: chosen }) }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const steps = data?.steps ?? [];
  // The step at the cursor is shown until another one is chosen.
  const followed = chosen === undefined && steps.some(({ stepId }) => stepId === at) ? at : undefined;
  if (followed !== undefined && data?.stepId !== followed) setChosen(followed);
  if (error !== null) return <Pending words="" error={error} />;
  if (data === undefined) return <Pending words="Rendering the prompt …" error={error} />;
  return (
    <>
      <CommandHint command={`${command} --step ${data.stepId}`} />
      <p className="actions">
        <Select
          label="Step"
          value={data.stepId}
          options={Object.fromEntries(steps.map(({ stepId, title }) => [stepId, title]))}
          onPick={setChosen}
        />
        <Select label="Mode" value={mode} options={MODES} onPick={(one) => setMode(one as Mode)} />
        {at !== undefined && at !== data.stepId && steps.some(({ stepId }) => stepId === at) && (
          <button type="button" onClick={() => setChosen(at)}>
            Show the step at the cursor
          </button>
        )}
      </p>
      {data.contextKeys.length > 0 && (
        <fieldset className="samples">
          <legend>Sample values</legend>
          {data.contextKeys.map((key) => (
            <label key={key}>
              <span>{key}</span>
              <input
                type="text"
                value={samples[key] ?? ''}
                placeholder="not set"
                onChange={({ target }) => setSamples({ ...samples, [key]: target.value })}
              />
            </label>
          ))}
        </fieldset>
      )}
      {data.failing.map((words) => (
        <p key={words} className="warning">
          With these values the step is skipped: it runs only when {words}.
        </p>
      ))}
      <pre className="prompt" tabIndex={0}>
        {data.text}
      </pre>
      <p className="meta">
        {sizeOf(data.bytes)}, as an agent reads it; tokens are placeholders. <CopyButton text={data.text} />
      </p>
    </>
  );
}

/** Numbers, truth values and JSON are taken as such; all else is text. */
function contextOf(samples: { readonly [key: string]: string }): JsonObject {
  const given = Object.entries(samples).filter(([, value]) => value !== '');
  return Object.fromEntries(given.map(([key, value]) => [key, typedValue(value)]));
}

function typedValue(text: string): JsonObject[string] {
  if (!/^(?:true|false|-?\d+(?:\.\d+)?|[[{].*)$/s.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
