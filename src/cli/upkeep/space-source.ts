import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { SpaceSource } from '../../app/ports/team-database.ts';
import type { ListedSources } from '../../app/ports/workflow-sources.ts';
import { addSource, updateSources } from '../../app/sources.ts';
import { spaceSourceList } from '../../app/team/space-sources.ts';
import type { Flow } from '../../core/flow.ts';
import { parseSourceAddress } from '../../core/sources.ts';
import { plural } from '../../core/text/words.ts';
import { spaceSourceShape } from '../../core/wire/team-shapes.ts';
import { type CommandInput, command, done } from '../command.ts';
import { type Line, strong } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { short, sourcePlace, sourceProblem, updateLines } from '../sources.ts';
import { URL_OPTION } from './team.ts';
import { OF_DATABASE, type Opened, withAccess } from './team-access.ts';

export const spaceSource = command({
  operands: [
    { syntax: '<name>', help: 'the name of the space' },
    { syntax: '[address]', help: 'a git repository to add: https://…, git@host:path or /path/repo.git' },
  ],
  options: [
    URL_OPTION,
    { flags: '--as <source>', help: 'the name of the source (default: the last part of the address)' },
    { flags: '--ref <ref>', help: 'the branch or tag of the repository' },
    { flags: '--folder <folder>', help: 'the folder with workflows in the repository (default: workflows)' },
    {
      flags: '--accept <source@commit>',
      help: 'let agents use the fetched workflows of this source, at exactly this commit',
    },
    { flags: '--update <source>', help: 'fetch the newest commit of the branch; agents get it only after --accept' },
    { flags: '--dry-run', help: 'with --update: show what would change in the workflow files; change nothing' },
    { flags: '--force', help: 'with --update: take a branch whose history was rewritten' },
    { flags: '--remove <source>', help: 'stop offering the workflows of this source' },
  ],
  example: 'workrail space source shop https://example.org/team/flows.git --ref main',
  needsNoConfig: true,
  data: z.strictObject({ space: z.string(), sources: z.array(spaceSourceShape) }),
  run: async (context, input) => {
    const [space = '', address] = input.operands;
    const ofSpace = { ...input, options: { ...input.options, space } };
    return withAccess(context, ofSpace, async (opened) =>
      safeTry(async function* () {
        const said = yield* await changeSources(opened, address, input.options);
        const sources = yield* (await opened.access.sources()).mapErr(ofDatabase);
        const waiting = sources.find(({ isAccepted }) => !isAccepted);
        return done({
          data: { space, sources: sources.map((one) => ({ ...one })) },
          lines: [...said, ...(sources.length === 0 ? [NONE] : sources.flatMap(linesOf))],
          next:
            waiting === undefined
              ? `workrail space source ${space} ADDRESS --database-url URL`
              : `workrail space source ${space} --accept ${named(waiting)} --database-url URL`,
        });
      }),
    );
  },
});

const NONE: Line = ['No repositories: agents are offered the bundled workflows and those of their own project.'];

/** Does what the command line asks for, and says what was done. */
async function changeSources(
  opened: Opened,
  address: string | undefined,
  options: CommandInput['options'],
): Promise<Result<readonly Line[], CommandProblem>> {
  const { accept, update, remove } = options;
  const asked = [address, accept, update, remove].filter((one) => one !== undefined);
  if (asked.length > 1) {
    return err(usageProblem('One change at a time.', 'Give an address, or --accept, or --update, or --remove.'));
  }
  if (address !== undefined) return added(opened, address, options);
  if (typeof accept === 'string') return accepted(opened, accept);
  if (typeof update === 'string') return updated(opened, update, options);
  if (typeof remove === 'string') return removed(opened, remove);
  return ok([]);
}

async function added(
  opened: Opened,
  address: string,
  { as: name, ref, folder }: CommandInput['options'],
): Promise<Result<readonly Line[], CommandProblem>> {
  const kind = parseSourceAddress(address);
  if (kind.isErr()) return err(spaceSourceProblem(kind.error, opened.space));
  if (kind.value.kind !== 'git') {
    return err(usageProblem(`${address} is not a git repository.`, 'A space takes workflows only from repositories.'));
  }
  const given = { ...text('name', name), ...text('ref', ref), ...text('folder', folder) };
  return withCopies(opened, async (services) => {
    const source = await addSource(services, { address, ...given });
    if (source.isErr()) return err(spaceSourceProblem(source.error, opened.space));
    return ok([[`Fetched ${source.value.source.name}. Agents are offered its workflows once you accept it.`]]);
  });
}

function text(name: string, value: unknown): { readonly [name: string]: string } {
  return typeof value === 'string' ? { [name]: value } : {};
}

async function updated(
  opened: Opened,
  name: string,
  { force, dryRun }: CommandInput['options'],
): Promise<Result<readonly Line[], CommandProblem>> {
  return withCopies(opened, (services) =>
    safeTry(async function* (): Flow<readonly Line[], CommandProblem> {
      const isDry = dryRun === true;
      const refusedHere = (refusal: SourceRefusal) => spaceSourceProblem(refusal, opened.space);
      const listed = yield* (await services.list.read()).mapErr(refusedHere);
      const known = listed.find((one) => one.name === name);
      // What would change is shown beside the files of the commit that is pinned now.
      if (isDry && known?.kind === 'git') yield* (await services.copies.fetchPinned(known)).mapErr(refusedHere);
      const result = yield* (await updateSources(services, { names: [name], isForced: force === true, isDry })).mapErr(
        refusedHere,
      );
      const refused = result.find(({ refusal }) => refusal !== undefined)?.refusal;
      return refused === undefined ? ok(result.flatMap(updateLines)) : err(refusedHere(refused));
    }),
  );
}

const ACCEPTED = /^([a-z0-9_-]+)@([0-9a-f]{7,64})$/;

/** The commit is part of what is accepted: a newer one may have been proposed since somebody looked. */
async function accepted({ access, made }: Opened, asked: string): Promise<Result<readonly Line[], CommandProblem>> {
  const [, name = '', commit = ''] = ACCEPTED.exec(asked) ?? [];
  if (name === '') {
    return err(
      usageProblem(`--accept cannot be "${asked}".`, 'Give the source with its commit, such as flows@1a2b3c4d.'),
    );
  }
  const sources = await access.sources();
  if (sources.isErr()) return err(ofDatabase(sources.error));
  const waiting = sources.value.find(({ source, isAccepted }) => !isAccepted && source.name === name);
  const isMeant = waiting?.source.commit.startsWith(commit) === true;
  const result = isMeant ? await access.acceptSource(waiting.source, made) : ok(false);
  if (result.isErr()) return err(ofDatabase(result.error));
  if (!result.value) {
    const message = `No source ${asked} waits in this space. Nothing was changed.`;
    return err(problem(EXIT.notFound, message, 'Run the command without --accept to see what waits.'));
  }
  return ok([[`Agents are now offered the workflows of ${asked}. Servers notice within five seconds.`]]);
}

async function removed({ access, made }: Opened, name: string): Promise<Result<readonly Line[], CommandProblem>> {
  const result = await access.removeSource(name, made);
  if (result.isErr()) return err(ofDatabase(result.error));
  if (!result.value) {
    return err(problem(EXIT.notFound, `This space has no source "${name}".`, 'Run the command without --remove.'));
  }
  return ok([[`Removed ${name}. Runs that were started from it can continue.`]]);
}

/** Copies of repositories are needed only while the command runs: what servers read is in the database. */
async function withCopies<Value>(
  { access, team, made }: Opened,
  work: (services: ListedSources) => PromiseLike<Result<Value, CommandProblem>>,
): Promise<Result<Value, CommandProblem>> {
  const { copies, inspector, resolvePath, clear } = team.gitSources();
  const worked = await work({ list: spaceSourceList(access, inspector, () => made), copies, inspector, resolvePath });
  clear();
  return worked;
}

type SourceRefusal = Parameters<typeof sourceProblem>[0];

/** What is wrong with a source, and what to do about it with this command. "workrail source" is about the user's own list. */
export function spaceSourceProblem(refusal: SourceRefusal, space: string): CommandProblem {
  const found = sourceProblem(refusal);
  const suggestion = suggestionFor(refusal, (more) => `workrail space source ${space} ${more} --database-url URL`);
  return suggestion === undefined ? found : { ...found, error: { ...found.error, suggestion } };
}

function suggestionFor(refusal: SourceRefusal, commandLine: (more: string) => string): string | undefined {
  switch (refusal.code) {
    case 'address_refused':
      return 'Use https://HOST/REPO.git, git@HOST:REPO.git or /path/repo.git.';
    case 'source_exists':
      return 'Choose another name with --as, or remove the existing source with --remove.';
    case 'source_unusable':
      return refusal.what === 'name' ? 'Use --as with lower-case letters, digits, - and _.' : undefined;
    case 'source_unknown':
      return refusal.known.length === 0 ? `There are no sources yet. Add one: ${commandLine('ADDRESS')}` : undefined;
    case 'git_rewritten':
      return `Ask the owner why. To accept the new history: ${commandLine(`--update ${refusal.name} --force`)}`;
    case 'git_commit_missing':
      return 'Fetch the newest commit with --update.';
    case 'git_missing':
      return 'Install git, then run the command again.';
    case 'git_timeout':
      return 'Try again when the server of the repository answers faster.';
    default:
      return undefined;
  }
}

function ofDatabase(failure: StoreFailure): CommandProblem {
  return refusalProblem(failure, OF_DATABASE);
}

function named({ source: { name, commit } }: SpaceSource): string {
  return `${name}@${short(commit)}`;
}

function linesOf(one: SpaceSource): readonly Line[] {
  const state = one.isAccepted ? 'in use' : 'waits for an admin';
  return [
    [strong(named(one)), `  ${sourcePlace(one.source)}`],
    [`  ${state}, ${plural(one.files.length, 'file')}: ${one.files.slice(0, FILES_SHOWN_MAX).join(', ')}`],
  ];
}

const FILES_SHOWN_MAX = 20;
