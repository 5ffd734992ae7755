import { err, ok } from 'neverthrow';
import * as z from 'zod';
import type { GitRefusal } from '../app/ports/workflow-sources.ts';
import {
  type AddSourceRefusal,
  addSource,
  type ListedSource,
  listSources,
  removeSource,
  type SourceHealth,
  type SourceUnknown,
  type UpdatedSource,
  updateSources,
} from '../app/sources.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import { type WorkflowSourceEntry, workflowSourceEntrySchema } from '../core/sources.ts';
import { nearest } from '../core/text/spelling.ts';
import { plural } from '../core/text/words.ts';
import { type CommandProblem, EXIT, type ExitCode, type RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';
import type { Line } from './output/line.ts';

type SourceRefusal = AddSourceRefusal | SourceUnknown;
type Said = readonly [code: ErrorEnvelope['code'], exitCode: ExitCode, message: string, suggestion: string];

const SHORT_COMMIT = 10;

/** A refusal as the command ends with it. */
function sourceProblem(refusal: SourceRefusal): CommandProblem {
  const [code, exitCode, message, suggestion] = words(refusal);
  return { exitCode, error: { code, message, suggestion, retry: { kind: 'not_retryable' } } };
}

function words(refusal: SourceRefusal): Said {
  switch (refusal.code) {
    case 'address_refused':
      return [
        'VALIDATION_ERROR',
        EXIT.usage,
        `"${refusal.address}" is refused as a source: ${REASONS[refusal.reason]}.`,
        ADDRESSES,
      ];
    case 'source_exists':
      return [
        'VALIDATION_ERROR',
        EXIT.usage,
        `There is a source "${refusal.name}" already.`,
        'Give this one another name with --name, or remove the other.',
      ];
    case 'source_unusable':
      return [
        'VALIDATION_ERROR',
        EXIT.usage,
        `"${refusal.value}" cannot be the ${refusal.what} of a source.`,
        UNUSABLE[refusal.what],
      ];
    case 'setting_of_repositories':
      return settingWords(refusal);
    case 'source_empty':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        `${healthText(refusal.health)} Nothing was added.`,
        emptyAdvice(refusal.health),
      ];
    case 'source_unknown':
      return ['VALIDATION_ERROR', EXIT.notFound, `There is no source "${refusal.name}".`, knownAdvice(refusal)];
    case 'source_list_broken':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        `${refusal.file} cannot be read as a list of sources: ${refusal.cause}.`,
        'Mend it, or move it away and add the sources again.',
      ];
    case 'source_list_unwritable':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        `${refusal.file} could not be written (${refusal.cause}). Nothing was changed.`,
        'Free space or mend the permissions, and type the command again.',
      ];
    case 'git_missing':
    case 'git_timeout':
    case 'git_failed':
    case 'git_rewritten':
      return gitWords(refusal);
    default:
      return unreachable(refusal);
  }
}

function settingWords({ setting, address, kind }: Extract<SourceRefusal, { code: 'setting_of_repositories' }>): Said {
  const taken = kind === 'folder' ? 'a plain folder, read as it is' : 'an npm package';
  const instead =
    kind === 'folder' ? ', or name a repository on this machine as file:///PATH or with .git at its end' : '';
  return [
    'VALIDATION_ERROR',
    EXIT.usage,
    `--${setting} is for git repositories, and ${address} is taken as ${taken}.`,
    `Leave out --${setting}${instead}.`,
  ];
}

function gitWords(refusal: GitRefusal): Said {
  switch (refusal.code) {
    case 'git_missing':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        'git was not found.',
        'Install git, or add a folder or an npm package instead.',
      ];
    case 'git_timeout':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        `git took longer than ${refusal.ms / 1000} s for ${refusal.url}.`,
        'Try again, or clone it yourself and add the folder.',
      ];
    case 'git_failed':
      return [
        'VALIDATION_ERROR',
        EXIT.failed,
        `git could not fetch ${refusal.url}: ${refusal.said}`,
        'Check the address, the branch, and that you may read it without being asked for a password.',
      ];
    case 'git_rewritten':
      return [
        'VALIDATION_ERROR',
        EXIT.checkFailed,
        `${refusal.url} was rewritten: ${short(refusal.to)} does not follow ${short(refusal.from)}.`,
        `Ask who did it. To take it all the same: workrail source update ${refusal.name} --force`,
      ];
    default:
      return unreachable(refusal);
  }
}

const REASONS = {
  option: 'it would be read as an option',
  protocol: 'only https, ssh and files are fetched from',
  insecure: 'anyone on the way could change what is fetched',
  secret: 'it holds a password, which would be stored and shown',
  form: 'it is no address',
} as const;
const ADDRESSES = 'Use https://HOST/REPO.git, git@HOST:REPO.git, /path/repo.git, a folder, or npm:NAME.';
const UNUSABLE = {
  name: 'Use --name with lower-case letters, digits, - and _.',
  ref: 'Use --ref with the plain name of a branch or tag.',
  folder: 'Use --folder with a folder inside of the repository, or "." for all of it.',
} as const;

/** How a source stands, as a sentence. */
function healthText(health: SourceHealth): string {
  switch (health.kind) {
    case 'ready':
      return health.files === 0 ? `There are no workflow files in ${health.dir}.` : `${plural(health.files, 'file')}.`;
    case 'missing':
      return `${health.dir} is not there.`;
    case 'outside':
      return `${health.dir} leads out of the source, to ${health.target}.`;
    case 'not_installed':
      return `The package ${health.package} is not installed in ${health.from} or above.`;
    case 'undeclared':
      return `The package ${health.package} declares no workflows.`;
    default:
      return unreachable(health);
  }
}

function emptyAdvice(health: SourceHealth): string {
  if (health.kind === 'not_installed') return `Type "npm install ${health.package}" there first.`;
  if (health.kind === 'undeclared') return 'Its package.json needs "workrail": {"workflows": "FOLDER"}.';
  if (health.kind === 'outside') return 'A source holds its workflows itself: add the folder that they lie in instead.';
  return 'Name the folder that holds the .json files, in a repository with --folder.';
}

function knownAdvice({ name, known }: SourceUnknown): string {
  if (known.length === 0) return 'There are none yet: workrail source add ADDRESS';
  const near = nearest(name, known);
  return near === undefined ? `There are: ${known.join(', ')}.` : `Did you mean ${near}?`;
}

/** Where a source is, in one line. */
function sourcePlace(source: WorkflowSourceEntry): string {
  if (source.kind === 'folder') return source.path;
  if (source.kind === 'package') return `npm:${source.package}`;
  return `${source.url} ${source.ref ?? ''}${source.ref === undefined ? '' : ' '}at ${short(source.commit)}`;
}

/** As much of a commit as people read. */
export function short(commit: string): string {
  return commit.slice(0, SHORT_COMMIT);
}

export const sourceList: RunCommand = async ({ program }) => {
  const listed = await listSources(await program.sources());
  if (listed.isErr()) return err(sourceProblem(listed.error));
  const data: SourceListData = { sources: [...listed.value] };
  const none: Line = ['No sources beside the bundle, ~/.workrail/workflows and the folders of a project.'];
  return ok({
    kind: 'done',
    data,
    lines: listed.value.length === 0 ? [none] : listed.value.flatMap(linesOf),
    next: listed.value.length === 0 ? 'workrail source add ADDRESS' : 'workrail workflow list',
  });
};

function linesOf({ source, health }: ListedSource): readonly Line[] {
  const style = health.kind === 'ready' && health.files > 0 ? 'good' : 'bad';
  return [
    [{ text: source.name, style: 'strong' }, `  ${source.kind}  ${sourcePlace(source)}`],
    ['  ', { text: healthText(health), style }],
  ];
}

export const sourceAdd: RunCommand = async ({ program, progress }, { operands, options }) => {
  const [address = ''] = operands;
  const told = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {});
  progress.show({ label: 'fetching' });
  const request = { address, ...told('name'), ...told('ref'), ...told('folder') };
  const added = await addSource(await program.sources(), request);
  if (added.isErr()) return err(sourceProblem(added.error));
  const { source, health } = added.value;
  return ok({
    kind: 'done',
    data: { source, health },
    lines: [['Added ', { text: source.name, style: 'strong' }, `: ${sourcePlace(source)}`], [healthText(health)]],
    next: 'workrail workflow list',
  });
};

export const sourceRemove: RunCommand = async ({ program }, { operands: [name = ''] }) => {
  const removed = await removeSource(await program.sources(), name);
  if (removed.isErr()) return err(sourceProblem(removed.error));
  const source = removed.value;
  return ok({
    kind: 'done',
    data: { source },
    lines: [[`Removed ${source.name}: ${sourcePlace(source)}. Runs that were started from it go on.`]],
    next: 'workrail source list',
  });
};

export const sourceUpdate: RunCommand = async ({ program, progress }, { operands, options }) => {
  progress.show({ label: 'fetching' });
  const updated = await updateSources(await program.sources(), {
    names: operands,
    isForced: options['force'] === true,
  });
  if (updated.isErr()) return err(sourceProblem(updated.error));
  const failed = updated.value.flatMap(({ refusal }) => (refusal === undefined ? [] : [sourceProblem(refusal)]));
  const data: SourceUpdateData = {
    sources: updated.value.map(({ refusal, ...source }) => ({
      ...source,
      ...(refusal === undefined ? {} : { problem: sourceProblem(refusal).error.message }),
    })),
  };
  const [problem] = failed;
  return ok({
    kind: 'done',
    data,
    lines: updated.value.length === 0 ? [['No repositories to update.']] : updated.value.map(lineOf),
    ...(problem === undefined ? {} : { problem }),
    next: 'workrail source list',
  });
};

function lineOf({ name, from, to, refusal }: UpdatedSource): Line {
  if (refusal !== undefined) return [{ text: name, style: 'strong' }, ` stays at ${short(from)}`];
  return [
    { text: name, style: 'strong' },
    from === to ? ` is at ${short(to)} already` : ` ${short(from)} → ${short(to)}`,
  ];
}

const health = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), files: z.int().min(0), dir: z.string() }),
  z.strictObject({ kind: z.literal('missing'), dir: z.string() }),
  z.strictObject({ kind: z.literal('outside'), dir: z.string(), target: z.string() }),
  z.strictObject({ kind: z.literal('not_installed'), package: z.string(), from: z.string() }),
  z.strictObject({ kind: z.literal('undeclared'), package: z.string(), dir: z.string() }),
]);

const listed = z.strictObject({ source: workflowSourceEntrySchema, health });
type SourceListData = z.infer<typeof sourceListData>;
const sourceListData = z.strictObject({ sources: z.array(listed) });
/** What `workrail source list --json` prints. */
export const sourceListShape = commandShape('source list', sourceListData);

/** What `workrail source add --json` prints. */
export const sourceAddShape = commandShape('source add', listed);

/** What `workrail source remove --json` prints. */
export const sourceRemoveShape = commandShape('source remove', z.strictObject({ source: workflowSourceEntrySchema }));

const sourceUpdateData = z.strictObject({
  sources: z.array(
    z.strictObject({
      name: z.string(),
      /** The commit it was pinned to, and the one it is pinned to now. */
      from: z.string(),
      to: z.string(),
      /** Why it stayed where it was. */
      problem: z.string().exactOptional(),
    }),
  ),
});
type SourceUpdateData = z.infer<typeof sourceUpdateData>;
/** What `workrail source update --json` prints. */
export const sourceUpdateShape = commandShape('source update', sourceUpdateData);
