import { useMutation } from '@tanstack/react-query';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { Button, CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { write } from '../state/api.ts';
import type { EditedTexts } from './preview.tsx';

type Parts = {
  readonly texts: EditedTexts;
  readonly command: string;
  readonly isReadOnly: boolean;
  /** Begins the file of scenarios. */
  readonly onBegin: () => void;
  readonly onShow: () => void;
};

/** The scenarios of the workflow, run over the texts as they stand in the editor. */
export function Scenarios({ texts, command, isReadOnly, onBegin, onShow }: Parts) {
  const run = useMutation({ mutationFn: () => write('testText', {}, texts) });
  if (texts.scenarios === undefined) {
    return (
      <>
        <CommandHint command={command} />
        <p>
          This workflow has no test scenarios yet. A scenario says what an agent hands in, and what must come of it.
        </p>
        {!isReadOnly && <Button label="Write the first scenario" className="main" onClick={onBegin} />}
      </>
    );
  }
  return (
    <>
      <CommandHint command={command} />
      <p className="actions">
        <Button
          label={run.isPending ? 'Running …' : 'Run the tests'}
          className="main"
          disabled={run.isPending}
          onClick={() => run.mutate()}
        />
        <Button label="Show the scenarios" onClick={onShow} />
      </p>
      <ErrorPanel error={run.error} />
      <div role="status">{run.data !== undefined && <Results data={run.data} />}</div>
    </>
  );
}

function Results({ data: { problems, scenarios, coverage } }: { readonly data: ConsoleReply<'testText'> }) {
  const failed = scenarios.filter(({ failures }) => failures.length > 0).length;
  const missing = coverage?.outcomes.missing ?? [];
  return (
    <>
      {problems.map(({ line, column, message }) => (
        <p key={`${line}:${column} ${message}`} className="warning">
          Tests {line}:{column} {message}
        </p>
      ))}
      {problems.length === 0 && (
        <p className="strong">
          {plural(scenarios.length, 'scenario')}: {scenarios.length - failed} passed, {failed} failed
        </p>
      )}
      <ul className="plain results">
        {scenarios.map(({ name, mode, failures, path }) => (
          <li key={`${name} ${mode}`}>
            <p>
              <span className={failures.length === 0 ? 'passed' : 'failed'}>
                {failures.length === 0 ? '✓ passed' : '✗ failed'}
              </span>{' '}
              {name} <span className="meta">{mode}</span>
            </p>
            <p className="meta">{path.join(' → ')}</p>
            {failures.map((words) => (
              <p key={words} className="warning break">
                {words}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {coverage !== undefined && (
        <p className="meta">
          Covered: {coverage.steps.reached} of {plural(coverage.steps.total, 'step')}
          {coverage.outcomes.total > 0 &&
            `, ${coverage.outcomes.reached} of ${plural(coverage.outcomes.total, 'outcome')} of conditions`}
          .
        </p>
      )}
      {coverage?.steps.missing.map((stepId) => (
        <p key={stepId} className="meta">
          Never reached: {stepId}
        </p>
      ))}
      {missing.map(({ condition, never }) => (
        <p key={`${condition} ${never}`} className="meta">
          Never {never}: {condition}
        </p>
      ))}
    </>
  );
}
