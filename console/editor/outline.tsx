import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useRef, useState } from 'react';
import { exchanged, outlineOf, siblingsOf, stepAround, type WrittenStep } from './source-text.ts';

type Parts = {
  readonly state: EditorState;
  readonly view: () => EditorView | undefined;
  readonly isReadOnly: boolean;
  /** Positions of problems, which are counted at their steps. */
  readonly problems: readonly number[];
};

/** The steps in their order. A step can be moved among those beside it, by keys too. */
export function StepOutline({ state, view, isReadOnly, problems }: Parts) {
  const [said, setSaid] = useState('');
  /** Where a step was moved to. Its row is a new one, and has to be focused for the next key. */
  const moved = useRef<number | undefined>(undefined);
  const steps = outlineOf(state);
  const current = stepAround(steps, state.selection.main.head);
  const go = ({ from }: WrittenStep) => {
    const shown = view();
    shown?.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    shown?.focus();
  };
  const move = (step: WrittenStep, by: 1 | -1) => {
    const shown = view();
    const place = siblingsOf(steps, step);
    const other = place?.list[place.at + by];
    if (shown === undefined || place === undefined || other === undefined || isReadOnly) return;
    const [first, second] = by === 1 ? [step, other] : [other, step];
    const longer = second.to - second.from - (first.to - first.from);
    const anchor = by === 1 ? second.from + longer : first.from;
    moved.current = anchor;
    shown.dispatch({ changes: exchanged(shown.state.doc, first, second), selection: { anchor }, scrollIntoView: true });
    setSaid(`Moved "${step.title}" to place ${place.at + by + 1} of ${place.list.length}.`);
  };
  const onKey = (event: React.KeyboardEvent, step: WrittenStep) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
    if (by === undefined) return;
    event.preventDefault();
    const rows = [...(event.currentTarget.closest('.outline')?.querySelectorAll('button.step') ?? [])];
    const at = rows.indexOf(event.currentTarget);
    if (!event.altKey) return (rows[at + by] as HTMLElement | undefined)?.focus();
    move(step, by);
  };
  const row = (step: WrittenStep) => {
    const found = problems.filter((at) => step.from <= at && at <= step.to).length;
    return (
      <li key={`${step.id} ${step.from}`}>
        <span className="outline-row">
          <button
            type="button"
            className="step quiet"
            ref={(row) => {
              if (row === null || moved.current !== step.from) return;
              moved.current = undefined;
              row.focus();
            }}
            aria-current={current?.from === step.from ? 'step' : undefined}
            onClick={() => go(step)}
            onKeyDown={(event) => onKey(event, step)}
          >
            <span className="step-words">{step.title}</span>
            {step.type !== '' && <span className="badge">{step.type}</span>}
            {found > 0 && <span className="badge warning">{found}</span>}
          </button>
          {!isReadOnly && current?.from === step.from && (
            <>
              <button
                type="button"
                className="quiet"
                aria-label={`Move ${step.title} up`}
                onClick={() => move(step, -1)}
              >
                ↑
              </button>
              <button
                type="button"
                className="quiet"
                aria-label={`Move ${step.title} down`}
                onClick={() => move(step, 1)}
              >
                ↓
              </button>
            </>
          )}
        </span>
        {step.body.length > 0 && <ol>{step.body.map(row)}</ol>}
      </li>
    );
  };
  return (
    <nav className="outline" aria-label="Steps">
      <h2>Steps</h2>
      {steps.length === 0 ? <p className="meta">No step can be made out yet.</p> : <ol>{steps.map(row)}</ol>}
      {!isReadOnly && (
        <p className="meta">
          <kbd>Alt ↑</kbd> <kbd>Alt ↓</kbd> move a step
        </p>
      )}
      <p className="heard" role="status">
        {said}
      </p>
    </nav>
  );
}
