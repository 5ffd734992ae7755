import { contracts } from '../../../../src/core/workflow/builtins/contracts.ts';
import type { Call } from './obedient-reader.ts';

/** An agent that sends calls back without doing the work, in one of several ways. */
export type Parrot = {
  readonly name: string;
  /** What it sends where a reply offers this call; `earlier` is the call that the reply before offered. */
  readonly say: (offered: Call, earlier: Call | undefined) => Call;
};

type Output = { readonly notesMarkdown?: string; readonly artifacts?: readonly { readonly kind?: unknown }[] };

const verbatim: Parrot = { name: 'sends the call as it is', say: (offered) => offered };

/** Fills in the first of several blanks. */
const fillsOne: Parrot = {
  name: 'fills in one blank of several',
  say: (offered) => {
    const text = JSON.stringify(offered.arguments);
    if ((text.match(/<fill: /g) ?? []).length < 2) return offered;
    return { ...offered, arguments: JSON.parse(text.replace(/<fill: [^<>]*>/, 'Read all of it.')) };
  },
};

const previousForm: Parrot = {
  name: "sends the previous step's form",
  say: (offered, earlier) => {
    const { output, context } = earlier?.arguments ?? offered.arguments;
    return { ...offered, arguments: { ackToken: offered.arguments['ackToken'], ...present({ output, context }) } };
  },
};

/** What the first release offered: its sentences, and the published examples of contracts. */
const firstRelease: Parrot = {
  name: "sends the first release's examples",
  say: (offered) => {
    const { output, context } = offered.arguments as { output?: Output; context?: Readonly<Record<string, unknown>> };
    const artifacts = output?.artifacts?.map(({ kind, ...form }) => {
      const found = contracts.all.find(({ artifactKind }) => artifactKind === kind);
      return found === undefined ? { kind, ...form } : found.example;
    });
    const notesMarkdown = output?.notesMarkdown && 'What you did, the result, and what is still open.';
    const told = context && Object.fromEntries(Object.keys(context).map((key) => [key, `<${key}>`]));
    const sent = { output: output && present({ notesMarkdown, artifacts }), context: told };
    return { ...offered, arguments: { ackToken: offered.arguments['ackToken'], ...present(sent) } };
  },
};

/** Deletes every marker, and leaves the words of the blank as if they were the answer. */
const wordsOnly: Parrot = {
  name: 'deletes the markers of blanks',
  say: (offered) => ({
    ...offered,
    arguments: JSON.parse(JSON.stringify(offered.arguments).replaceAll(/<fill: ([^<>]*)>/g, '$1')),
  }),
};

const encoded = (name: string, less: string, more: string): Parrot => ({
  name,
  say: (offered) => ({ ...offered, arguments: respelled(offered.arguments, less, more) as Call['arguments'] }),
});

export const VERBATIM = verbatim;
export const PARROTS: readonly Parrot[] = [
  verbatim,
  fillsOne,
  previousForm,
  firstRelease,
  wordsOnly,
  encoded('writes blanks as HTML', '&lt;', '&gt;'),
  encoded('writes blanks as escaped JSON', '\\u003c', '\\u003e'),
];

function respelled(value: unknown, less: string, more: string): unknown {
  if (typeof value === 'string') return value.replaceAll('<', less).replaceAll('>', more);
  if (Array.isArray(value)) return value.map((item) => respelled(item, less, more));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, respelled(one, less, more)]));
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
