import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { JsonValue } from '../../src/core/json/json-value.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { moveAmong, useKeys } from '../parts/keys.tsx';
import { CommandHint, CopyButton, DataTable, Json, Pending, SearchField, Select } from '../parts/panels.tsx';
import { read } from '../state/api.ts';
import { BUILTIN_KINDS, readBuiltinSearch } from '../state/search.ts';
import { Rendered } from './step-data.tsx';
import '../style/library.css';

type Builtin = ConsoleReply<'builtins'>['builtins'][number];

const KIND_WORDS: { readonly [kind in Builtin['kind']]: string } = {
  contract: 'Contracts',
  feature: 'Features',
  ref: 'Refs',
  template: 'Templates',
  routine: 'Routines',
  capability: 'Capabilities',
};

/** What a workflow file can refer to by name. */
export function Builtins() {
  const asked = useSearch({ from: '/builtins' });
  const navigate = useNavigate({ from: '/builtins' });
  const { data, error } = useQuery({ queryKey: ['builtins'], queryFn: () => read('builtins') });
  const change = (part: { readonly q?: string; readonly kind?: string | undefined }) =>
    void navigate({ search: readBuiltinSearch({ ...asked, ...part }), replace: true });
  useKeys({ j: () => moveAmong('.builtin > summary', 1), k: () => moveAmong('.builtin > summary', -1) });
  if (data === undefined) return <Pending words="Reading the built-ins …" error={error} isPage />;
  const { q = '', kind } = asked;
  const words = q.toLowerCase().split(/\s+/);
  const found = data.builtins.filter(({ id, purpose, text = '' }) => {
    const whole = `${id} ${purpose} ${text}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const kinds = BUILTIN_KINDS.filter((one) => kind === undefined || kind === one);
  return (
    <>
      <header className="page-head">
        <h1>Built-ins</h1>
        <SearchField label="Find a built-in" words={q} onWords={(next) => change({ q: next })} />
      </header>
      <div className="chips" role="group" aria-label="Kind">
        {BUILTIN_KINDS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={kind === one}
            onClick={() => change({ kind: kind === one ? undefined : one })}
          >
            {KIND_WORDS[one]} <span className="meta">{found.filter((builtin) => builtin.kind === one).length}</span>
          </button>
        ))}
      </div>
      {kinds.map((one) => (
        <Kind key={one} kind={one} builtins={found.filter((builtin) => builtin.kind === one)} />
      ))}
      {found.length === 0 && <p className="panel">Nothing matches.</p>}
      <CommandHint command={typedCommand('builtins', {})} />
    </>
  );
}

function Kind({ kind, builtins }: { readonly kind: Builtin['kind']; readonly builtins: readonly Builtin[] }) {
  if (builtins.length === 0) return null;
  return (
    <section aria-label={KIND_WORDS[kind]}>
      <h2>{KIND_WORDS[kind]}</h2>
      {builtins.map((one) => (
        <Entry key={one.id} builtin={one} />
      ))}
    </section>
  );
}

/** Opens the editor of one of the author's own workflows, with this built-in at hand. */
function InsertInto({ id }: { readonly id: string }) {
  const navigate = useNavigate();
  const { data } = useQuery({ queryKey: ['workflows'], queryFn: () => read('workflows') });
  const own = data?.workflows.filter(({ source }) => source === 'project' || source === 'user') ?? [];
  if (own.length === 0) return null;
  const open = (workflow: string) => {
    if (workflow === '') return;
    void navigate({ to: '/workflows/$workflow/edit', params: { workflow }, search: { insert: id } });
  };
  const options = { '': 'choose a workflow', ...Object.fromEntries(own.map((one) => [one.id, one.name])) };
  return <Select label="Insert into …" value="" options={options} onPick={open} />;
}

function Entry({ builtin }: { readonly builtin: Builtin }) {
  const { id, purpose, usedBy } = builtin;
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="builtin" id={id} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code className="strong">{id}</code>
        <span>{purpose}</span>
        <span className="meta">
          {usedBy.length === 0 ? 'not used' : `used by ${plural(usedBy.length, 'workflow')}`}
        </span>
      </summary>
      {isOpen && <About builtin={builtin} />}
    </details>
  );
}

function About({ builtin }: { readonly builtin: Builtin }) {
  const { id, text, parameters = [], schema, example, rendererHint, insert, usedBy } = builtin;
  return (
    <div className="readable">
      <h3>
        Write this <CopyButton text={insert} />
      </h3>
      <pre tabIndex={0}>{insert}</pre>
      <InsertInto id={id} />
      {parameters.length > 0 && (
        <DataTable
          title="Arguments"
          head={['Name', 'Meaning', 'Values']}
          rows={parameters.map(({ name, purpose: about, values }) => [name, about, values?.join(', ') ?? 'any text'])}
        />
      )}
      {text && <h3>What the agent reads</h3>}
      {text && <pre tabIndex={0}>{visibleText(text)}</pre>}
      {example && rendererHint && (
        <section aria-label="Example, as the page of a run shows it">
          <h3>Example, as the page of a run shows it</h3>
          <Rendered content={example as JsonValue} renderer={{ hint: rendererHint, order: [] }} />
        </section>
      )}
      {example && <h3>{rendererHint ? 'Example, as the agent sends it' : 'Defaults'}</h3>}
      {example && <Json value={example as JsonValue} />}
      {schema && (
        <details>
          <summary>Schema</summary>
          <Json value={schema as JsonValue} />
        </details>
      )}
      {usedBy.length > 0 && <h3>Where it is used</h3>}
      <ul className="plain used-by">
        {usedBy.map((workflow) => (
          <li key={workflow}>
            <Link to="/workflows/$id" params={{ id: workflow }} search={{}}>
              {workflow}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
