import { plural } from '../../src/core/text/words.ts';
import type { Finding } from '../../src/core/wire/editor-shapes.ts';
import { Button, CommandHint } from '../parts/panels.tsx';
import { applyFix, type FoundProblems } from './code-editor.tsx';
import type { EditedFile } from './edited-file.ts';
import { rangeAt } from './source-text.ts';

type FoundIn = FoundProblems & { readonly file: EditedFile; readonly name: string };

type Parts = {
  readonly found: readonly FoundIn[];
  readonly command: string;
  readonly isReadOnly: boolean;
  /** Shows a file before something in it is shown. */
  readonly onShow: (file: EditedFile) => void;
};

/** What `workflow check` reports about the text as it stands. */
export function Problems({ found, command, isReadOnly, onShow }: Parts) {
  // A text that changed is checked again in a moment; until then its findings may be about other places.
  const isStale = found.some(({ file, of }) => of !== undefined && of !== file.text);
  const all = found.flatMap(({ findings, ...one }) => findings.map((finding) => ({ ...one, finding })));
  const go = (file: EditedFile, finding: Finding) => {
    onShow(file);
    // The editor has to be visible before it can scroll.
    setTimeout(() => {
      const view = file.view();
      view?.dispatch({ selection: { anchor: rangeAt(view.state, finding).from }, scrollIntoView: true });
      view?.focus();
    });
  };
  return (
    <>
      <CommandHint command={command} />
      {isStale && <p className="meta">Checking …</p>}
      {all.length === 0 && !isStale && <p>No problems. The text is valid and keeps every quality rule.</p>}
      <ul className="plain problems">
        {all.map(({ file, name, of, finding }, i) => (
          <li key={i} className="problem">
            <p>
              <span className={`badge ${finding.severity}`}>{finding.severity}</span>{' '}
              <button type="button" className="link" onClick={() => go(file, finding)}>
                {name} {finding.line}:{finding.column}
              </button>{' '}
              <span className="meta">{finding.code}</span>
            </p>
            <p className="break">{finding.message}</p>
            {finding.hint !== undefined && <p className="meta">{finding.hint}</p>}
            {finding.docs !== undefined && (
              <p className="meta">Why: workrail workflow check --explain {finding.code}</p>
            )}
            {finding.fix !== undefined && !isReadOnly && <Fix file={file} of={of} fix={finding.fix} onShow={onShow} />}
          </li>
        ))}
      </ul>
      {!isReadOnly && all.some(({ finding }) => finding.fix !== undefined) && (
        <p className="meta">
          <kbd>Ctrl .</kbd> fixes the problem at the cursor.
        </p>
      )}
      <p className="heard" role="status">
        {plural(all.length, 'problem')}
      </p>
    </>
  );
}

type FixParts = Pick<FoundIn, 'file' | 'of'> & Pick<Parts, 'onShow'> & { readonly fix: NonNullable<Finding['fix']> };

function Fix({ file, of, fix, onShow }: FixParts) {
  const apply = () => {
    onShow(file);
    const view = file.view();
    if (view !== undefined) applyFix(view, fix, of);
  };
  return <Button label={`Fix: ${fix.title}`} disabled={of !== file.text} onClick={apply} />;
}

/** The first problem on the line of the cursor that can be fixed automatically. */
export function fixAtCursor(file: EditedFile, { findings, of }: FoundProblems): void {
  const view = file.view();
  if (view === undefined) return;
  const line = view.state.doc.lineAt(view.state.selection.main.head).number;
  const fixable = findings.filter(({ fix }) => fix !== undefined);
  const finding = fixable.find((one) => one.line === line) ?? fixable[0];
  if (finding?.fix !== undefined) applyFix(view, finding.fix, of);
}
