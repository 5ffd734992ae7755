import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { shellWord } from '../../src/core/text/words.ts';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandHint, ErrorPanel, Pending, Select } from '../parts/panels.tsx';
import { read, write } from '../state/api.ts';
import '../style/editor.css';

type From = ConsoleInput<'createWorkflow'>['from'];
type Kind = From['kind'];

const KINDS: { readonly [kind in Kind]: string } = {
  starter: 'a starter',
  copy: 'another workflow',
  run: 'a finished run',
};

/** Makes a workflow from a starter, another workflow or a finished run, and opens it in the editor. */
export function NewWorkflowPage() {
  const { data, error } = useQuery({ queryKey: ['new-workflow'], queryFn: () => read('newWorkflow') });
  if (data === undefined) return <Pending words="Reading what there is to start from …" error={error} isPage />;
  return <NewForm data={data} />;
}

function NewForm({ data }: { readonly data: ConsoleReply<'newWorkflow'> }) {
  const given = useSearch({ from: '/workflows/new' });
  const navigate = useNavigate();
  const [kind, setKind] = useState<Kind>(given.copy !== undefined ? 'copy' : given.session ? 'run' : 'starter');
  const [starter, setStarter] = useState(data.starters[0]?.name ?? 'blank');
  const [copied, setCopied] = useState(given.copy ?? data.workflows[0]?.id ?? '');
  const [session, setSession] = useState(given.session ?? '');
  const [to, setTo] = useState<'project' | 'user'>('project');
  const [typedId, setId] = useState<string | undefined>(undefined);
  const [name, setName] = useState('');
  const id = typedId ?? (kind === 'copy' ? `${to}.${copied.slice(copied.indexOf('.') + 1)}` : '');
  const from: From =
    kind === 'starter'
      ? { kind, starter }
      : kind === 'copy'
        ? { kind, workflow: copied }
        : { kind, sessionId: session as never, ...(given.run !== undefined && { runId: given.run as never }) };
  const create = useMutation({
    mutationFn: () => write('createWorkflow', {}, { from, id, to, ...(name !== '' && { name }) }),
    onSuccess: (made) => navigate({ to: '/workflows/$workflow/edit', params: { workflow: made.id }, search: {} }),
  });
  return (
    <form
      className="panel new-workflow"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <h1>New workflow</h1>
      <fieldset>
        <legend>Start from</legend>
        {Object.entries(KINDS).map(([one, words]) => (
          <label key={one} className="choice">
            <input type="radio" name="from" checked={kind === one} onChange={() => setKind(one as Kind)} />
            {words}
          </label>
        ))}
      </fieldset>
      {kind === 'starter' && (
        <fieldset>
          <legend>Starter</legend>
          {data.starters.map(({ name: one, summary }) => (
            <label key={one} className="choice">
              <input type="radio" name="starter" checked={starter === one} onChange={() => setStarter(one)} />
              <span>
                {one} <span className="meta">{summary}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {kind === 'copy' && (
        <Select
          label="Workflow"
          value={copied}
          options={Object.fromEntries(data.workflows.map((one) => [one.id, `${one.id}: ${one.name}`]))}
          onPick={setCopied}
        />
      )}
      {kind === 'run' && <FinishedRuns session={session} onPick={setSession} />}
      <label>
        <span>Id, as namespace.name</span>
        <input
          type="text"
          required
          value={id}
          placeholder="team.release_check"
          spellCheck={false}
          onChange={({ target }) => setId(target.value.trim())}
        />
      </label>
      {kind !== 'copy' && (
        <label>
          <span>Name (optional)</span>
          <input type="text" value={name} onChange={({ target }) => setName(target.value)} />
        </label>
      )}
      <fieldset>
        <legend>Write it to</legend>
        {(['project', 'user'] as const).map((one) => (
          <label key={one} className="choice">
            <input type="radio" name="to" checked={to === one} onChange={() => setTo(one)} />
            <span>
              {one === 'project' ? 'this project' : 'your own folder, for all projects'}{' '}
              <span className="meta break">{data.folders[one]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <ErrorPanel error={create.error} />
      <p className="actions">
        <button
          type="submit"
          className="main"
          disabled={id === '' || create.isPending || (kind === 'run' && session === '')}
        >
          Create and edit
        </button>
      </p>
      <CommandHint command={commandOf({ from, id, to, name })} />
    </form>
  );
}

const SESSIONS_OFFERED = 50;

/** The newest sessions that were finished. */
function FinishedRuns({ session, onPick }: { readonly session: string; readonly onPick: (session: string) => void }) {
  const { data, error } = useQuery({
    queryKey: ['finished'],
    queryFn: () => read('sessions', {}, { state: 'complete', limit: SESSIONS_OFFERED }),
  });
  if (data === undefined) return <Pending words="Reading the sessions …" error={error} />;
  if (data.rows.length === 0 && session === '') return <p className="warning">No run is finished yet.</p>;
  const rows = data.rows.map(({ sessionId, title, shortId }): [string, string] => [sessionId, `${title} (${shortId})`]);
  const known = rows.some(([one]) => one === session) || session === '' ? rows : [[session, session], ...rows];
  return (
    <Select
      label="Session"
      value={session}
      options={Object.fromEntries([['', 'choose a session'], ...known])}
      onPick={onPick}
    />
  );
}

type Asked = { readonly from: From; readonly id: string; readonly to: string; readonly name: string };

/** The command that does the same. */
function commandOf({ from, id, to, name }: Asked): string {
  const into = to === 'project' ? '' : ' --to user';
  const shown = id === '' ? 'NAMESPACE.NAME' : shellWord(id);
  if (from.kind === 'copy') return `workrail workflow copy ${shellWord(from.workflow)} ${shown}${into}`;
  const named = name === '' ? '' : ` --name ${shellWord(name)}`;
  const what =
    from.kind === 'run' ? ` --from-run ${String(from.sessionId) || 'SESSION'}` : ` --template ${from.starter}`;
  return `workrail workflow new ${shown}${what}${named}${into}`;
}
