import { err } from 'neverthrow';
import type * as z from 'zod';
import type { ListedSources, ProjectSources, SourceServices } from '../app/ports/workflow-sources.ts';
import {
  type AddSourceRefusal,
  addSource,
  type ListedSource,
  listAskedSources,
  listSources,
  removeSource,
  type SourceHealth,
  type SourceUnknown,
  type UpdatedSource,
  updateSources,
} from '../app/sources.ts';
import { type ByCode, type ByKind, byCode, byKind } from '../core/assert.ts';
import { defined } from '../core/json/json-value.ts';
import type { WorkflowSourceEntry } from '../core/sources.ts';
import { nearest } from '../core/text/spelling.ts';
import { plural, shellWord } from '../core/text/words.ts';
import { listedSourceShape, sourceListData, sourceRemoveData, sourceUpdateData } from '../core/wire/machine-shapes.ts';
import { type CommandInput, command, done } from './command.ts';
import { asTyped, bad, good, type Line, strong } from './output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from './problem.ts';

const PROJECT = {
  flags: '--project',
  help: 'work on the sources of this project (.workrail/sources.json) instead of your own',
};

export const sourceList = command({
  example: 'workrail source list',
  data: sourceListData,
  run: async ({ program }) => {
    const services = await program.sources();
    const listed = await listSources(services);
    if (listed.isErr()) return err(sourceProblem(listed.error));
    const project = await askedOf(services.project);
    const none: Line = ['You added no sources yourself.'];
    const waiting = project?.sources.filter(({ isAccepted }) => !isAccepted) ?? [];
    return done({
      data: { sources: [...listed.value], ...defined({ project }) },
      lines: [
        ...(listed.value.length === 0 ? [none] : listed.value.flatMap(linesOf)),
        ...(project === undefined ? [] : [[], ...projectLines(project)]),
      ],
      next:
        waiting.length > 0
          ? 'workrail source accept'
          : listed.value.length === 0 && project === undefined
            ? 'workrail source add ADDRESS'
            : 'workrail workflow list',
    });
  },
});

type AskedData = NonNullable<z.infer<typeof sourceListData>['project']>;

/** What the repository in this folder asks for; `undefined` if it asks for nothing. */
async function askedOf(project: ProjectSources): Promise<AskedData | undefined> {
  const asked = await listAskedSources(project);
  const { file } = project;
  if (asked.isErr()) return { file, sources: [], problem: sourceProblem(asked.error).error.message };
  return asked.value.length === 0 ? undefined : { file, sources: asked.value.map((one) => ({ ...one })) };
}

function projectLines({ sources, problem: trouble }: AskedData): readonly Line[] {
  return [
    [strong('This project asks for'), '  .workrail/sources.json'],
    ...(trouble === undefined ? [] : [['  ', bad(trouble)]]),
    ...sources.flatMap((asked): readonly Line[] => [
      ['  ', strong(asked.source.name), `  ${sourcePlace(asked.source)}`],
      ['    ', asked.isAccepted ? good(`accepted. ${healthText(asked.health)}`) : bad('not accepted, so not used.')],
    ]),
  ];
}

export const sourceAdd = command({
  operands: [{ syntax: '<address>', help: 'https://…, git@host:path, /path/repo.git, a folder, or npm:NAME' }],
  options: [
    { flags: '--name <name>', help: 'the name of the source (default: the last part of the address)' },
    { flags: '--ref <ref>', help: 'the branch or tag of a git repository' },
    { flags: '--folder <folder>', help: 'the folder with workflows in a git repository (default: workflows)' },
    PROJECT,
  ],
  example: 'workrail source add https://example.org/team/flows.git --ref main',
  data: listedSourceShape,
  run: async ({ program, progress }, { operands, options }) => {
    const [address = ''] = operands;
    const given = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {});
    progress.show({ label: 'fetching' });
    const isForProject = options['project'] === true;
    const request = { address, ...given('name'), ...given('ref'), ...given('folder'), isForProject };
    const added = await addSource(chosenList(await program.sources(), options), request);
    if (added.isErr()) return err(sourceProblem(added.error));
    const { source, health, asRepository } = added.value;
    return done({
      data: { source, health },
      lines: [
        ['Added ', strong(source.name), `: ${sourcePlace(source)}`],
        [healthText(health)],
        ...(isForProject ? [[PROJECT_NOTE]] : []),
        ...(asRepository === undefined
          ? []
          : [[asTyped(`It is a git repository. ${asRepositoryWords(asRepository)}`, program)]]),
      ],
      next: isForProject ? 'workrail source accept' : 'workrail workflow list',
    });
  },
});

export const sourceRemove = command({
  operands: [{ syntax: '<name>', help: 'the name of the source; "workrail source list" shows it' }],
  options: [PROJECT],
  example: 'workrail source remove flows',
  data: sourceRemoveData,
  run: async ({ program }, { operands: [name = ''], options }) => {
    const removed = await removeSource(chosenList(await program.sources(), options), name);
    if (removed.isErr()) return err(sourceProblem(removed.error));
    const source = removed.value;
    return done({
      data: { source },
      lines: [[`Removed ${source.name}: ${sourcePlace(source)}. Runs started from it can continue.`]],
      next: 'workrail source list',
    });
  },
});

export const sourceUpdate = command({
  operands: [{ syntax: '[name...]', help: 'names of git sources (default: all)' }],
  options: [
    { flags: '--force', help: 'accept a branch whose history was rewritten' },
    { flags: '--dry-run', help: 'show what would change in the workflow files; change nothing' },
    PROJECT,
  ],
  example: 'workrail source update flows',
  data: sourceUpdateData,
  run: async ({ program, progress }, { operands, options }) => {
    progress.show({ label: 'fetching' });
    const updated = await updateSources(chosenList(await program.sources(), options), {
      names: operands,
      isForced: options['force'] === true,
      isDry: options['dryRun'] === true,
    });
    if (updated.isErr()) return err(sourceProblem(updated.error));
    const failed = updated.value.flatMap(({ refusal }) => (refusal === undefined ? [] : [sourceProblem(refusal)]));
    const sources = updated.value.map(({ refusal, ...source }) =>
      refusal === undefined ? source : { ...source, problem: sourceProblem(refusal).error.message },
    );
    return done({
      data: { sources },
      lines: updated.value.length === 0 ? [['No git sources to update.']] : updated.value.flatMap(updateLines),
      problem: failed[0],
      next: nextAfterUpdate(
        options,
        updated.value.some(({ from, to }) => from !== to),
      ),
    });
  },
});

function nextAfterUpdate({ project, dryRun }: CommandInput['options'], isNewer: boolean): string {
  if (!isNewer) return 'workrail source list';
  if (dryRun === true) return `workrail source update${project === true ? ' --project' : ''}`;
  return project === true ? 'workrail source accept' : 'workrail source list';
}

const PROJECT_NOTE =
  'It is written to .workrail/sources.json. Commit that file: everyone who works here is asked to accept it once.';

/** The list that a command changes. */
function chosenList(services: SourceServices, options: CommandInput['options']): ListedSources {
  return options['project'] === true ? services.project : services;
}

type SourceRefusal = AddSourceRefusal | SourceUnknown;

export function sourceProblem(refusal: SourceRefusal): CommandProblem {
  return byCode(SOURCE_PROBLEMS, refusal);
}

const SOURCE_PROBLEMS: ByCode<SourceRefusal, CommandProblem> = {
  address_refused: ({ address, reason }) =>
    usageProblem(`"${address}" cannot be a source: ${REASONS[reason]}.`, ADDRESSES),
  source_exists: ({ name }) =>
    usageProblem(
      `A source named "${name}" already exists.`,
      'Choose another name with --name, or remove the existing source.',
    ),
  source_unusable: ({ what, value }) => usageProblem(`Invalid ${what} "${value}".`, UNUSABLE[what]),
  setting_of_repositories: notARepository,
  only_repositories: ({ address, kind, asRepository }) =>
    usageProblem(
      `A project can ask only for git repositories, and ${address} is ${kind === 'folder' ? 'added as a plain folder' : 'an npm package'}.`,
      asRepository === undefined
        ? 'Use the address of a repository, or remove --project to add it for yourself.'
        : `It is a git repository. ${asRepositoryWords(asRepository, ' --project')}`,
    ),
  source_empty: ({ health, repository }) =>
    repository === undefined || (health.kind !== 'ready' && health.kind !== 'missing')
      ? problem(EXIT.failed, `${healthText(health)} Nothing was added.`, emptyAdvice(health))
      : emptyRepository(repository, health.kind === 'missing'),
  source_unknown: (refusal) => problem(EXIT.notFound, `Unknown source "${refusal.name}".`, knownAdvice(refusal)),
  source_list_broken: ({ file, cause }) =>
    problem(
      EXIT.failed,
      `${file} is not a valid list of sources: ${cause}.`,
      'Fix it, or move it away and add the sources again.',
    ),
  source_list_unwritable: ({ file, cause }) =>
    problem(
      EXIT.failed,
      `${file} could not be written (${cause}). Nothing was changed.`,
      'Check that you can write to its folder and that the disk has free space. Then run the command again.',
    ),
  git_missing: () =>
    problem(EXIT.failed, 'git was not found.', 'Install git, or add a folder or an npm package instead.'),
  git_timeout: ({ ms, url }) =>
    problem(
      EXIT.failed,
      `git took longer than ${ms / 1000} s to fetch ${url}.`,
      'Try again, or clone the repository yourself and add its folder.',
    ),
  git_failed: ({ url, said }) =>
    problem(
      EXIT.failed,
      `git could not fetch ${url}: ${said}`,
      'Check the address and the branch, and that you can read the repository without a password prompt.',
    ),
  git_commit_missing: ({ url, commit }) =>
    problem(
      EXIT.failed,
      `${url} does not contain the commit ${short(commit)} on that branch. Nothing was accepted.`,
      'Ask the owner of .workrail/sources.json for a commit that exists: workrail source update --project',
    ),
  git_rewritten: ({ url, from, to, name }) =>
    problem(
      EXIT.checkFailed,
      `The history of ${url} was rewritten: ${short(to)} does not follow ${short(from)}.`,
      `Ask the owner why. To accept the new history: workrail source update ${name} --force`,
    ),
};

function notARepository(refusal: Extract<SourceRefusal, { code: 'setting_of_repositories' }>): CommandProblem {
  const { setting, address, kind, asRepository = 'file:///PATH' } = refusal;
  const [found, instead] =
    kind === 'folder'
      ? ['a plain folder', `, or name a local repository as ${asRepository} or with a path that ends in .git`]
      : ['an npm package', ''];
  return usageProblem(
    `--${setting} is only for git repositories, and ${address} is ${found}.`,
    `Remove --${setting}${instead}.`,
  );
}

const REASONS = {
  option: 'git would read it as an option',
  protocol: 'only https, ssh and file addresses are supported',
  insecure: 'the connection is not encrypted, so others could change what is fetched',
  secret: 'it contains a password, which would be stored and shown',
  form: 'it is not a valid address',
} as const;
const ADDRESSES = 'Use https://HOST/REPO.git, git@HOST:REPO.git, /path/repo.git, a folder, or npm:NAME.';
const UNUSABLE = {
  name: 'Use --name with lower-case letters, digits, - and _.',
  ref: 'Use --ref with the plain name of a branch or tag.',
  folder: 'Use --folder with a folder inside the repository, or "." for the whole repository.',
} as const;

export function healthText(health: SourceHealth): string {
  return byKind(HEALTH_WORDS, health);
}

const HEALTH_WORDS: ByKind<SourceHealth, string> = {
  ready: ({ files, dir, edited }) =>
    edited !== undefined
      ? `${plural(files, 'file')}. ${plural(edited, 'file')} changed after the fetch and not used: run "workrail source update".`
      : files === 0
        ? `${dir} contains no workflow files.`
        : `${plural(files, 'file')}.`,
  missing: ({ dir }) => `${dir} does not exist.`,
  outside: ({ dir, target }) => `${dir} links to ${target}, outside the source.`,
  not_installed: ({ package: name, from }) => `The package ${name} is not installed in ${from} or above.`,
  undeclared: ({ package: name }) => `The package ${name} declares no workflows.`,
};

function emptyAdvice(health: SourceHealth): string {
  if (health.kind === 'not_installed') return `Run "npm install ${health.package}" there first.`;
  if (health.kind === 'undeclared') return 'Its package.json needs "workrail": {"workflows": "FOLDER"}.';
  if (health.kind === 'outside') return 'Add the folder that contains the workflows itself.';
  return 'Name the folder with the .json files; in a git repository, use --folder.';
}

/** The address with which a local repository is pinned to a commit. */
function asRepositoryWords(url: string, flags = ''): string {
  return `To add it as a git source, pinned to a commit: workrail source add ${shellWord(url)}${flags}`;
}

function emptyRepository(
  { folder, folders }: { readonly folder: string; readonly folders: readonly string[] },
  isMissing: boolean,
): CommandProblem {
  const [first] = folders;
  const none = isMissing
    ? `The repository has no folder ${folder}`
    : folder === '.'
      ? 'The repository has no workflow files'
      : `The folder ${folder} of the repository has no workflow files`;
  if (first === undefined) {
    const others = folder === '.' ? '' : ', and no workflow files elsewhere';
    return problem(
      EXIT.failed,
      `${none}${others}. Nothing was added.`,
      'Check the address, the branch and the commit.',
    );
  }
  const shown = folders.slice(0, FOLDERS_SHOWN_MAX).join(', ');
  return problem(
    EXIT.failed,
    `${none}; it has .json files in: ${shown} (use --folder ${shellWord(first)}). Nothing was added.`,
    `Add --folder ${shellWord(first)} to the command.`,
  );
}

const FOLDERS_SHOWN_MAX = 10;

function knownAdvice({ name, known }: SourceUnknown): string {
  if (known.length === 0) return 'There are no sources yet. Add one: workrail source add ADDRESS';
  const near = nearest(name, known);
  return near === undefined ? `The sources are ${known.join(', ')}.` : `Did you mean ${near}?`;
}

export function sourcePlace(source: WorkflowSourceEntry): string {
  if (source.kind === 'folder') return source.path;
  if (source.kind === 'package') return `npm:${source.package}`;
  return `${source.url} ${source.ref ?? ''}${source.ref === undefined ? '' : ' '}at ${short(source.commit)}`;
}

const SHORT_COMMIT = 10;

export function short(commit: string): string {
  return commit.slice(0, SHORT_COMMIT);
}

function linesOf({ source, health }: ListedSource): readonly Line[] {
  const style = health.kind === 'ready' && health.files > 0 && health.edited === undefined ? 'good' : 'bad';
  return [
    [strong(source.name), `  ${source.kind}  ${sourcePlace(source)}`],
    ['  ', { text: healthText(health), style }],
  ];
}

export function updateLines(updated: UpdatedSource): readonly Line[] {
  const { changes } = updated;
  if (changes === undefined) return [lineOf(updated)];
  const { name, from, to } = updated;
  const head = from === to ? [lineOf(updated)] : [[strong(name), ` would go from ${short(from)} to ${short(to)}`]];
  return [...head, ...changes.flatMap(({ diff }) => diff.map((text): Line => [`  ${text}`]))];
}

function lineOf({ name, from, to, refusal }: UpdatedSource): Line {
  if (refusal !== undefined) return [strong(name), ` stays at ${short(from)}`];
  return [strong(name), from === to ? ` is already at ${short(to)}` : ` ${short(from)} → ${short(to)}`];
}
