import { useState } from 'react';
import { type MergeChoice, type MergePart, mergedText, mergeParts } from '../../src/core/text/merge-texts.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Button } from '../parts/panels.tsx';
import type { DiskText, EditedFile } from './edited-file.ts';

const CHOICES: { readonly [choice in MergeChoice]: string } = {
  mine: 'Yours',
  theirs: 'The file on disk',
  mine_then_theirs: 'Both, yours first',
};

/** Says that the file on disk is no longer what was opened, and brings the two together. Neither side is lost. */
export function ChangedOnDisk({ file, theirs }: { readonly file: EditedFile; readonly theirs: DiskText }) {
  const [isOpen, setOpen] = useState(false);
  if (theirs.text === undefined) {
    return (
      <div className="banner lacking" role="alert">
        <p className="strong">This file was deleted while you were editing it.</p>
        <p>Your text is kept here. Nothing was written.</p>
        <Button label="Write it again" onClick={() => file.continueFrom({}, file.text)} />
      </div>
    );
  }
  return (
    <div className="banner lacking" role="alert">
      <p className="strong">This file was changed by another program while you were editing it.</p>
      <p>Nothing was written. Look at both versions, and choose what to keep.</p>
      <Button label="Compare and merge" className="main" onClick={() => setOpen(true)} />
      {isOpen && <MergeDialog file={file} theirs={{ ...theirs, text: theirs.text }} onClose={() => setOpen(false)} />}
    </div>
  );
}

type MergeParts = {
  readonly file: EditedFile;
  readonly theirs: DiskText & { readonly text: string };
  readonly onClose: () => void;
};

function MergeDialog({ file, theirs, onClose }: MergeParts) {
  const parts = mergeParts(file.base.text ?? '', file.text, theirs.text);
  const open = parts.filter(({ kind }) => kind === 'both').length;
  const [choices, setChoices] = useState<readonly (MergeChoice | undefined)[]>([]);
  const isDone = parts.every(({ kind }, i) => kind !== 'both' || choices[i] !== undefined);
  const take = (text: string) => {
    file.continueFrom(theirs, text);
    onClose();
  };
  const whole = () =>
    mergedText(
      parts,
      parts.flatMap(({ kind }, i) => (kind === 'both' ? [choices[i] ?? 'mine'] : [])),
    );
  return (
    <Dialog title="Two versions of this file" className="merge" onClose={onClose}>
      <p>
        {open === 0
          ? 'You and the other program changed different places, so both changes can be kept.'
          : `At ${open === 1 ? '1 place' : `${open} places`} both changed the same lines. Choose what to keep there.`}
      </p>
      <div className="merge-parts" tabIndex={0} role="region" aria-label="Differences">
        {parts.map((part, i) => (
          <Part
            key={i}
            part={part}
            choice={choices[i]}
            onChoose={(choice) => setChoices(Object.assign([...choices], { [i]: choice }))}
          />
        ))}
      </div>
      <p className="actions">
        <Button label="Use the merged text" className="main" disabled={!isDone} onClick={() => take(whole())} />
        <Button label="Keep only yours" onClick={() => take(file.text)} />
        <Button label="Keep only the file on disk" onClick={() => take(theirs.text)} />
        <Button label="Close" onClick={onClose} />
      </p>
      <p className="meta">Nothing is written until you save.</p>
    </Dialog>
  );
}

type PartParts = {
  readonly part: MergePart;
  readonly choice: MergeChoice | undefined;
  readonly onChoose: (choice: MergeChoice) => void;
};

const LINES_AROUND = 2;

function Part({ part: { kind, base, mine, theirs }, choice, onChoose }: PartParts) {
  if (kind === 'same') {
    const isLong = mine.length > 2 * LINES_AROUND + 1;
    const shown = isLong ? [...mine.slice(0, LINES_AROUND), '⋯', ...mine.slice(-LINES_AROUND)] : mine;
    return <pre className="same">{shown.join('\n')}</pre>;
  }
  const side = (title: string, lines: readonly string[]) => (
    <div>
      <p className="meta">{title}</p>
      <pre>{lines.length === 0 ? '(nothing)' : lines.join('\n')}</pre>
    </div>
  );
  return (
    <fieldset className={`merge-part ${kind}`}>
      <legend>{PART_WORDS[kind]}</legend>
      <div className="merge-sides">
        {side('Before', base)}
        {kind !== 'theirs' && side('Yours', mine)}
        {kind !== 'mine' && side('On disk', theirs)}
      </div>
      {kind === 'both' && (
        <p className="actions">
          {Object.entries(CHOICES).map(([name, words]) => (
            <Button
              key={name}
              label={words}
              aria-pressed={choice === name}
              onClick={() => onChoose(name as MergeChoice)}
            />
          ))}
        </p>
      )}
    </fieldset>
  );
}

const PART_WORDS = {
  mine: 'Changed by you',
  theirs: 'Changed on disk',
  both: 'Changed by both: choose',
} as const;
