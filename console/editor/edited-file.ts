import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useEffect, useRef, useState } from 'react';
import { write } from '../state/api.ts';
import { type Draft, dropDraft, keepDraft } from './unsaved-texts.ts';

/** A file as it is, or was, on disk. One that does not exist has no text. */
export type DiskText = { readonly text?: string; readonly digest?: string };

/** A file that is being edited: what was opened, what stands in the editor, and what somebody else wrote meanwhile. */
export type EditedFile = {
  readonly path: string;
  readonly first: string;
  readonly text: string;
  readonly base: DiskText;
  readonly isChanged: boolean;
  /** Set if the file on disk is no longer what was opened. */
  readonly theirs: DiskText | undefined;
  /** When the draft that is shown was typed, if it is one. */
  readonly restoredAt: number | undefined;
  readonly view: () => EditorView | undefined;
  readonly onReady: (view: EditorView) => void;
  readonly onChange: (state: EditorState) => void;
  /** Whether it was written. */
  readonly save: () => Promise<boolean>;
  readonly replaceAll: (text: string) => void;
  /** Continues from what is on disk now, with this text. */
  readonly continueFrom: (disk: DiskText, text: string) => void;
};

const KEEP_MS = 250;

export function useEditedFile(opened: DiskText & { readonly path: string }, draft: Draft | undefined): EditedFile {
  const { path } = opened;
  const begun = useRef(beginning(opened, draft)).current;
  const [base, setBase] = useState<DiskText>(begun.base);
  const [text, setText] = useState(begun.text);
  const [theirs, setTheirs] = useState(begun.theirs);
  const [restoredAt, setRestoredAt] = useState(begun.restoredAt);
  const view = useRef<EditorView>(undefined);
  const isChanged = text !== (base.text ?? '');
  const replaceAll = (whole: string) => {
    const shown = view.current;
    if (shown === undefined) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: shown.state.toText(whole) } });
  };
  const continueFrom = (disk: DiskText, whole: string) => {
    setBase(disk);
    setTheirs(undefined);
    setRestoredAt(undefined);
    replaceAll(whole);
  };
  useKeptDraft({ path, text, base: base.text, digest: base.digest, at: 0 }, isChanged, draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is on disk is compared.
  useEffect(() => {
    if (opened.digest === base.digest) return;
    if (isChanged) setTheirs(diskOf(opened));
    else continueFrom(diskOf(opened), opened.text ?? '');
  }, [opened.digest]);
  const save = async () => {
    const digest = base.digest === undefined ? {} : { digest: base.digest };
    const saved = await write('saveFile', {}, { path, text, ...digest });
    if (saved.kind === 'changed') {
      setTheirs(diskOf(saved));
      return false;
    }
    setBase({ text, digest: saved.digest });
    setTheirs(undefined);
    setRestoredAt(undefined);
    return true;
  };
  return {
    path,
    first: begun.text,
    text,
    base,
    isChanged,
    theirs,
    restoredAt,
    view: () => view.current,
    onReady: (ready) => {
      view.current = ready;
    },
    onChange: (state) => setText(state.sliceDoc()),
    save,
    replaceAll,
    continueFrom,
  };
}

function diskOf({ text, digest }: DiskText): DiskText {
  return { ...(text !== undefined && { text }), ...(digest !== undefined && { digest }) };
}

/** A draft is shown in place of the file. If the file changed since, the two have to be brought together. */
function beginning(opened: DiskText, draft: Draft | undefined) {
  const disk = diskOf(opened);
  if (draft === undefined || draft.text === (opened.text ?? '')) {
    return { base: disk, text: opened.text ?? '', theirs: undefined, restoredAt: undefined };
  }
  const { text, base, digest, at } = draft;
  const isSame = digest === opened.digest;
  const before = isSame ? disk : diskOf({ ...(base !== undefined && { text: base }), ...(digest && { digest }) });
  return { base: before, text, theirs: isSame ? undefined : disk, restoredAt: at };
}

/** Keeps what differs from the file a moment after the last key. */
function useKeptDraft(draft: Draft, isChanged: boolean, begun: Draft | undefined): void {
  const { path, text, base, digest } = draft;
  useEffect(() => {
    const keep = () =>
      isChanged ? keepDraft({ path, text, base, digest, at: Date.now() }, begun) : dropDraft(path, base ?? '', begun);
    const timer = setTimeout(() => void keep().catch(() => undefined), KEEP_MS);
    return () => clearTimeout(timer);
  }, [path, text, base, digest, isChanged, begun]);
}
