import type { SourceUnknown } from '../../../app/machine/sources/look-after-sources.ts';
import type { GitRefusal, SourceHealth } from '../../../app/ports/workflows/workflow-sources.ts';
import type { AddSourceRefusal } from '../../../app/sources.ts';
import { unreachable } from '../../../core/assert.ts';
import type { ErrorEnvelope } from '../../../core/log/error-envelope.ts';
import type { WorkflowSourceEntry } from '../../../core/sources.ts';
import { nearest } from '../../../core/text/spelling.ts';
import type { CommandProblem } from '../../command.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { plural } from '../../output/wording.ts';

type SourceRefusal = AddSourceRefusal | SourceUnknown;
type Said = readonly [code: ErrorEnvelope['code'], exitCode: ExitCode, message: string, suggestion: string];

const SHORT_COMMIT = 10;

/** A refusal as the command ends with it. */
export function sourceProblem(refusal: SourceRefusal): CommandProblem {
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
export function healthText(health: SourceHealth): string {
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
export function sourcePlace(source: WorkflowSourceEntry): string {
  if (source.kind === 'folder') return source.path;
  if (source.kind === 'package') return `npm:${source.package}`;
  return `${source.url} ${source.ref ?? ''}${source.ref === undefined ? '' : ' '}at ${short(source.commit)}`;
}

/** As much of a commit as people read. */
export function short(commit: string): string {
  return commit.slice(0, SHORT_COMMIT);
}
