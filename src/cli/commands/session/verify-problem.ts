import { join } from 'node:path';
import type { SessionAudit } from '../../../app/ports/upkeep/store-audit.ts';
import type { CommandProblem } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { plural } from '../../output/wording.ts';

/** What a check found wrong, and where it looked. */
type Found = { readonly dataDir: string; readonly damaged: readonly SessionAudit[]; readonly total: number };

/** Of several kinds of trouble the one that weighs most is told. */
export function verifyProblem(found: Found): CommandProblem {
  const trouble = weightiest(found);
  const damaged = found.damaged.filter((audit) => troubleOf(audit) === trouble);
  return {
    exitCode: EXIT.checkFailed,
    error: {
      ...WORDS[trouble]({ ...found, damaged }),
      retry: { kind: 'not_retryable' },
      details: { sessionIds: found.damaged.map(({ sessionId }) => sessionId) },
    },
  };
}

type Trouble = 'damage' | 'unreadable' | 'newer';

function weightiest({ damaged }: Found): Trouble {
  const troubles = damaged.map(troubleOf);
  return (['damage', 'unreadable'] as const).find((trouble) => troubles.includes(trouble)) ?? 'newer';
}

function troubleOf({ health }: SessionAudit): Trouble {
  if (health.kind === 'unreadable') return 'unreadable';
  return health.kind === 'unknown_version' ? 'newer' : 'damage';
}

type Words = Pick<CommandProblem['error'], 'code' | 'message' | 'suggestion'>;

const WORDS: { readonly [trouble in Trouble]: (found: Found) => Words } = {
  damage: (found) => ({
    code: 'STORE_CORRUPT',
    message: damageMessage(found),
    suggestion: `Put the files named above back into ${found.dataDir} from a backup, then check again. Nothing was changed; whatever comes before the damage can still be read.`,
  }),
  unreadable: ({ damaged, total, dataDir }) => ({
    code: 'STORE_IO',
    message: `The system does not let workrail read ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: `Make the files named above, in ${dataDir}, readable for this user, then check again. Nothing was changed.`,
  }),
  // A version that is not known needs an update, not a backup.
  newer: ({ damaged, total }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `A newer workrail wrote ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: 'Update workrail, then check again.',
  }),
};

/** Several sessions may need the same file. */
function damageMessage({ damaged, total }: Found): string {
  const files = damagedPlaces(damaged).length;
  const [are, them] = files === 1 ? ['is', 'it'] : ['are', 'them'];
  const need = damaged.length === 1 ? 'needs' : 'need';
  return `${plural(files, 'file')} ${are} damaged or missing; ${damaged.length} of ${plural(total, 'session')} ${need} ${them}.`;
}

function damagedPlaces(damaged: readonly SessionAudit[]): readonly string[] {
  const findings = damaged.flatMap((audit) => audit.findings).filter(({ severity }) => severity === 'damage');
  return [...new Set(findings.map(({ place }) => place))];
}

/** What leads on from here; to check once more what was just checked would not. */
export function nextOf(found: Found): string {
  if (found.damaged.length === 0)
    return found.total === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail --help';
  const trouble = weightiest(found);
  const first = found.damaged.filter((audit) => troubleOf(audit) === trouble).slice(0, 1);
  switch (trouble) {
    case 'damage':
      return `workrail session verify --json ${first.map(({ sessionId }) => sessionId)}`;
    case 'unreadable':
      return `ls -ld ${quoted(join(found.dataDir, damagedPlaces(first)[0] ?? ''))}`;
    default:
      return 'npm install --global workrail@latest';
  }
}

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
