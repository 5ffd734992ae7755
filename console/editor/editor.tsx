import type { EditorState } from '@codemirror/state';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { shellWord } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, ErrorPanel, Pending } from '../parts/panels.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { wholeTime } from '../parts/times.ts';
import { read, write } from '../state/api.ts';
import { EDITOR_PANELS, type EditorSearch } from '../state/search.ts';
import { notice } from '../state/told.ts';
import { CodeEditor } from './code-editor.tsx';
import { type EditedFile, useEditedFile } from './edited-file.ts';
import { Insert } from './insert.tsx';
import { StepOutline } from './outline.tsx';
import { type EditedTexts, Preview } from './preview.tsx';
import { fixAtCursor, Problems } from './problems.tsx';
import { Rehearse } from './rehearse.tsx';
import { Scenarios } from './scenarios.tsx';
import { appended, outlineOf, rangeAt, stepAround, writtenId } from './source-text.ts';
import { ChangedOnDisk } from './three-way.tsx';
import { type Draft, readDraft } from './unsaved-texts.ts';
import '../style/editor.css';

type Opened = ConsoleReply<'editFile'>;

/** The file of a workflow in an editor that checks, previews, rehearses and tests what is typed. */
export function Editor() {
  const { workflow } = useParams({ from: '/workflows/$workflow/edit' });
  const { data, error } = useQuery({
    queryKey: ['edit-file', workflow],
    queryFn: () => read('editFile', {}, { workflow }),
    refetchOnWindowFocus: true,
    retry: false,
  });
  const drafts = useDrafts(data);
  if (data === undefined || drafts === undefined) {
    return <Pending words="Opening the file …" error={error} isPage />;
  }
  return <OpenEditor key={data.path} opened={data} drafts={drafts} />;
}

type Drafts = { readonly workflow: Draft | undefined; readonly scenarios: Draft | undefined };

/** Drafts are only looked for once: after that, the editor has what was typed. */
function useDrafts(data: Opened | undefined): Drafts | undefined {
  const [found, setFound] = useState<{ readonly path: string; readonly drafts: Drafts } | undefined>(undefined);
  const path = data?.path;
  const beside = data?.scenarios.path;
  useEffect(() => {
    if (path === undefined || beside === undefined) return;
    void Promise.all([readDraft(path), readDraft(beside)]).then(([workflow, scenarios]) =>
      setFound({ path, drafts: { workflow, scenarios } }),
    );
  }, [path, beside]);
  return found !== undefined && found.path === path ? found.drafts : undefined;
}

const CHECK_MS = 150;

/** A value that waits until it has not changed for a moment. */
function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** What is reported about both texts, and which texts that was. */
function useCheck(texts: EditedTexts) {
  const { data, error } = useQuery({
    queryKey: ['check', texts],
    queryFn: async () => ({ ...(await write('checkText', {}, texts)), of: texts }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const workflow = useMemo(() => ({ findings: data?.findings ?? [], of: data?.of.text }), [data]);
  const tests = useMemo(() => ({ findings: data?.scenarioFindings ?? [], of: data?.of.scenarios }), [data]);
  return { workflow, tests, error };
}

function OpenEditor({ opened, drafts }: { readonly opened: Opened; readonly drafts: Drafts }) {
  const search: EditorSearch = useSearch({ from: '/workflows/$workflow/edit' });
  const navigate = useNavigate({ from: '/workflows/$workflow/edit' });
  const isReadOnly = opened.readOnly !== undefined;
  const workflow = useEditedFile(opened, isReadOnly ? undefined : drafts.workflow);
  const isTestsReadOnly = isReadOnly || opened.scenarios.unread !== undefined;
  const tests = useEditedFile(opened.scenarios, isTestsReadOnly ? undefined : drafts.scenarios);
  const [state, setState] = useState<EditorState | undefined>(undefined);
  const hasTests = tests.text !== '' || tests.base.text !== undefined;
  const scenarios = useSettled(tests.text, CHECK_MS);
  const texts = { path: opened.path, text: useSettled(workflow.text, CHECK_MS), ...(hasTests && { scenarios }) };
  const checked = useCheck(texts);
  const isTests = search.file === 'tests';
  const show = (file: EditedFile) => {
    const next = file === tests ? { ...search, file: 'tests' as const } : without(search);
    void navigate({ search: next, replace: true });
  };
  const save = useSave([workflow, tests], {
    onSaved: () => {
      const id = state === undefined ? '' : writtenId(state);
      if (id !== '' && id !== opened.workflowId) {
        void navigate({ to: '/workflows/$workflow/edit', params: { workflow: id }, search, replace: true });
      }
    },
  });
  useKeys({
    'Ctrl s': () => save.mutate(),
    'Ctrl .': () => fixAtCursor(isTests ? tests : workflow, isTests ? checked.tests : checked.workflow),
  });
  const positions = state === undefined ? [] : checked.workflow.findings.map((one) => rangeAt(state, one).from);
  return (
    <div className="editor">
      <EditorHead opened={opened} shown={isTests ? tests : workflow} files={[workflow, tests]} save={save} />
      {[workflow, tests].map((file) =>
        file.theirs === undefined ? null : <ChangedOnDisk key={file.path} file={file} theirs={file.theirs} />,
      )}
      <ErrorPanel error={save.error} />
      <div className="editor-parts">
        {state === undefined ? (
          <nav className="outline" aria-label="Steps" />
        ) : (
          <StepOutline state={state} view={workflow.view} isReadOnly={isReadOnly} problems={positions} />
        )}
        <section className="editor-text" aria-label="The text">
          <FileTabs isTests={isTests} opened={opened} files={[workflow, tests]} onShow={show} />
          <CodeEditor
            label="Text of the workflow"
            path={workflow.path}
            text={workflow.first}
            isReadOnly={isReadOnly}
            isHidden={isTests}
            found={checked.workflow}
            onReady={workflow.onReady}
            onChange={(changed) => {
              setState(changed);
              workflow.onChange(changed);
            }}
          />
          <CodeEditor
            label="Text of the tests"
            path={tests.path}
            text={tests.first}
            isReadOnly={isTestsReadOnly}
            isHidden={!isTests}
            workflow={() => workflow.view()?.state.sliceDoc() ?? workflow.first}
            found={checked.tests}
            onReady={tests.onReady}
            onChange={tests.onChange}
          />
        </section>
        <SidePanel
          {...{ opened, workflow, tests, texts, checked, show, state }}
          panel={search.panel ?? 'problems'}
          insert={search.insert}
          onPanel={(panel) =>
            void navigate({ search: { ...(isTests && { file: 'tests' as const }), panel }, replace: true })
          }
        />
      </div>
    </div>
  );
}

function without({ file: _, ...rest }: EditorSearch): EditorSearch {
  return rest;
}

function useSave(files: readonly EditedFile[], { onSaved }: { readonly onSaved: () => void }) {
  return useMutation({
    mutationFn: async () => {
      let isWhole = true;
      for (const file of files) if (file.isChanged) isWhole = (await file.save()) && isWhole;
      return isWhole;
    },
    onSuccess: (isWhole) => {
      if (!isWhole) return;
      notice.set({ words: 'Saved. Running sessions keep the version that they started with.' });
      onSaved();
    },
  });
}

type HeadParts = {
  readonly opened: Opened;
  /** Its path is shown: any other editor can change it too. */
  readonly shown: EditedFile;
  readonly files: readonly EditedFile[];
  readonly save: ReturnType<typeof useSave>;
};

const READ_ONLY_WORDS = {
  bundled: 'This workflow comes with WorkRail and cannot be changed. Make a copy to change it.',
  added_source:
    'This file belongs to a source that you added, and is replaced when that is updated. Make a copy to change it.',
  outside: 'This file is not in a folder of your own. Make a copy to change it.',
  unreadable: 'This file cannot be read as text, so it cannot be edited here.',
} as const;

function EditorHead({ opened, shown, files, save }: HeadParts) {
  const { workflowId, path, readOnly } = opened;
  const isChanged = files.some((file) => file.isChanged);
  const restored = files.find((file) => file.restoredAt !== undefined && file.isChanged);
  return (
    <header className="page-head">
      <div>
        <p className="crumbs">
          <Link to="/workflows" search={{}}>
            Workflows
          </Link>{' '}
          {workflowId !== undefined && (
            <>
              /{' '}
              <Link to="/workflows/$id" params={{ id: workflowId }} search={{}}>
                Overview
              </Link>
            </>
          )}
        </p>
        <h1>{workflowId ?? path.slice(path.lastIndexOf('/') + 1)}</h1>
        <p className="meta break">{shown.path}</p>
      </div>
      {readOnly === undefined ? (
        <p className="actions">
          <span className="meta" role="status">
            {save.isPending ? 'Saving …' : isChanged ? 'Not saved; kept as a draft in this browser' : 'Saved'}
          </span>
          <button type="button" className="main" disabled={!isChanged || save.isPending} onClick={() => save.mutate()}>
            Save <kbd>Ctrl s</kbd>
          </button>
        </p>
      ) : (
        <div className="banner">
          <p>{READ_ONLY_WORDS[readOnly]}</p>
          {workflowId !== undefined && (
            <Link to="/workflows/new" search={{ copy: workflowId }}>
              Make a copy
            </Link>
          )}
        </div>
      )}
      {restored?.restoredAt !== undefined && (
        <p className="banner">
          Your draft of {wholeTime(new Date(restored.restoredAt).toISOString())} was restored.{' '}
          <Button
            label="Discard the draft"
            onClick={() => {
              const disk = restored.theirs ?? restored.base;
              restored.continueFrom(disk, disk.text ?? '');
            }}
          />
        </p>
      )}
    </header>
  );
}

/** Why the file of the tests cannot be shown, if it cannot. */
function Unread({ tests: { path, unread } }: { readonly tests: Opened['scenarios'] }) {
  if (unread === undefined) return null;
  return (
    <div className="banner">
      <p className="break">{path} cannot be read as text, so it cannot be edited here.</p>
      <p className="break">{unread}</p>
    </div>
  );
}

type TabParts = {
  readonly isTests: boolean;
  readonly opened: Opened;
  readonly files: readonly [workflow: EditedFile, tests: EditedFile];
  readonly onShow: (file: EditedFile) => void;
};

function FileTabs({ isTests, opened, files, onShow }: TabParts) {
  return (
    <>
      <p className="actions file-tabs">
        {files.map((file, i) => (
          <Button
            key={file.path}
            label={`${i === 0 ? 'Workflow' : 'Tests'}${file.isChanged ? ' •' : ''}`}
            className="quiet"
            aria-pressed={isTests === (i === 1)}
            onClick={() => onShow(file)}
          />
        ))}
      </p>
      {isTests && <Unread tests={opened.scenarios} />}
    </>
  );
}

type SideParts = {
  readonly opened: Opened;
  readonly workflow: EditedFile;
  readonly tests: EditedFile;
  readonly texts: EditedTexts;
  readonly checked: ReturnType<typeof useCheck>;
  readonly show: (file: EditedFile) => void;
  readonly state: EditorState | undefined;
  readonly panel: NonNullable<EditorSearch['panel']>;
  readonly onPanel: (panel: NonNullable<EditorSearch['panel']>) => void;
  readonly insert: string | undefined;
};

/** What helps an author beside the text. */
function SidePanel(parts: SideParts) {
  const { opened, workflow, tests, texts, checked, show, state, panel, onPanel, insert } = parts;
  const isReadOnly = opened.readOnly !== undefined;
  const count = checked.workflow.findings.length + checked.tests.findings.length;
  const file = shellWord(opened.workflowId ?? opened.path);
  const at = state && stepAround(outlineOf(state), state.selection.main.head)?.id;
  const addScenario = (scenario: object) => {
    show(tests);
    if (opened.scenarios.unread !== undefined) return;
    addTo(tests, scenario, state === undefined ? '' : writtenId(state));
  };
  return (
    <aside className="editor-side" aria-label="Help with the text">
      <Tabs
        label="Help with the text"
        names={EDITOR_PANELS}
        chosen={panel}
        onChoose={onPanel}
        marks={{ problems: count > 0 && <span className="tab-count">{count}</span> }}
      >
        {panel === 'problems' && (
          <>
            <ErrorPanel error={checked.error} />
            {checked.workflow.of === undefined ? (
              <p className="meta">Checking …</p>
            ) : (
              <Problems
                found={[
                  { file: workflow, name: 'Workflow', ...checked.workflow },
                  { file: tests, name: 'Tests', ...checked.tests },
                ]}
                command={`workrail workflow check ${file}`}
                isReadOnly={isReadOnly}
                onShow={show}
              />
            )}
          </>
        )}
        {panel === 'preview' && <Preview texts={texts} command={`workrail workflow preview ${file}`} at={at} />}
        {panel === 'rehearse' && (
          <Rehearse texts={texts} command={`workrail workflow dry-run ${file}`} onKeep={addScenario} />
        )}
        {panel === 'tests' && opened.scenarios.unread !== undefined && <Unread tests={opened.scenarios} />}
        {panel === 'tests' && opened.scenarios.unread === undefined && (
          <Scenarios
            texts={{ ...texts, text: workflow.text, ...('scenarios' in texts && { scenarios: tests.text }) }}
            command={`workrail workflow test ${file}`}
            isReadOnly={isReadOnly}
            onBegin={() => addScenario(FIRST_SCENARIO)}
            onShow={() => show(tests)}
          />
        )}
        {panel === 'insert' && <Insert file={workflow} isReadOnly={isReadOnly} chosen={insert} onShow={show} />}
      </Tabs>
    </aside>
  );
}

const FIRST_SCENARIO = { name: 'goes straight through', expect: { blocks: 0, gaps: [], complete: true } };

/** Adds a scenario at the end of the file, or begins the file with it. */
function addTo(tests: EditedFile, scenario: object, workflowId: string): void {
  const view = tests.view();
  const text = JSON.stringify(scenario, null, 2);
  const changes = view && appended(view.state, 'scenarios', text);
  if (view !== undefined && changes !== undefined) view.dispatch({ changes });
  else if (tests.text.trim() === '') {
    tests.replaceAll(`${JSON.stringify({ workflowId, scenarios: [scenario] }, null, 2)}\n`);
  }
}
