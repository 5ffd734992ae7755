import { plural } from '../../src/core/text/words.ts';
import type { Finding } from '../../src/core/wire/editor-shapes.ts';
import { Button, CommandHint } from '../parts/panels.tsx';
import { applyFix } from './code-editor.tsx';
import type { EditedFile } from './edited-file.ts';
import { rangeAt } from './source-text.ts';

type Found = { readonly file: EditedFile; readonly name: string; readonly findings: readonly Finding[] };

type Parts = {
  readonly found: readonly Found[];
  readonly command: string;
  readonly isReadOnly: boolean;
  /** Shows a file before something in it is shown. */
  readonly onShow: (file: EditedFile) => void;
};

/** What `workflow check` reports about the text as it stands. */
export function Problems({ found, command, isReadOnly, onShow }: Parts) {
  const all = found.flatMap(({ file, name, findings }) => findings.map((finding) => ({ file, name, finding })));
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
      {all.length === 0 && <p>No problems. The text is valid and keeps every quality rule.</p>}
      <ul className="plain problems">
        {all.map(({ file, name, finding }, i) => (
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
            {finding.fix !== undefined && !isReadOnly && <Fix file={file} fix={finding.fix} onShow={onShow} />}
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

type FixParts = Pick<Found, 'file'> & Pick<Parts, 'onShow'> & { readonly fix: NonNullable<Finding['fix']> };

function Fix({ file, fix, onShow }: FixParts) {
  const apply = () => {
    onShow(file);
    const view = file.view();
    if (view !== undefined) applyFix(view, fix.edits);
  };
  return <Button label={`Fix: ${fix.title}`} onClick={apply} />;
}

/** The first problem on the line of the cursor that can be fixed automatically. */
export function fixAtCursor(file: EditedFile, findings: readonly Finding[]): void {
  const view = file.view();
  if (view === undefined) return;
  const line = view.state.doc.lineAt(view.state.selection.main.head).number;
  const fixable = findings.filter(({ fix }) => fix !== undefined);
  const finding = fixable.find((one) => one.line === line) ?? fixable[0];
  if (finding?.fix !== undefined) applyFix(view, finding.fix.edits);
}
