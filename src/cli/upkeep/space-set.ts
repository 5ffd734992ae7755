import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { SettingChange } from '../../app/ports/team-database.ts';
import { rulesOf } from '../../app/team/access-pages.ts';
import { plural, sizeOf } from '../../core/text/words.ts';
import { HANDOVERS, SPACE_LIMITS } from '../../core/wire/team-paths.ts';
import { spaceLimitsShape, spaceRulesShape } from '../../core/wire/team-shapes.ts';
import { type CommandInput, command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { short } from '../sources.ts';
import { isSafeUrl } from './connect.ts';
import { URL_OPTION } from './team.ts';
import { OF_DATABASE, withAccess } from './team-access.ts';

const GB = 1_000_000_000;

export const spaceSet = command({
  operands: [
    { syntax: '<name>', help: 'the name of the space' },
    {
      syntax: '[handover]',
      help: 'who may continue a run of the space: the word "space" (every agent of the space) or the word "owner" (only the person or program that started the run)',
    },
  ],
  options: [
    URL_OPTION,
    {
      flags: '--four-eyes <setting>',
      help: 'on: people may not approve runs that they started, nor drafts that their agent sent an attempt of; off: they may',
    },
    {
      flags: '--max-sessions <count>',
      help: `how many open sessions the space may have; above that, no session starts (default: ${SPACE_LIMITS.openSessionsMax})`,
    },
    {
      flags: '--max-size <GB>',
      help: `gigabytes that the space may hold; when it is full, nothing more is recorded (default: ${SPACE_LIMITS.bytesMax / GB})`,
    },
  ],
  example: 'workrail space set shop owner --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ name: z.string(), ...spaceRulesShape.shape }),
  run: (context, input) => {
    const [name = '', asked] = input.operands;
    const ofSpace = { ...input, options: { ...input.options, space: name } };
    return withAccess(context, ofSpace, async ({ access, made }) =>
      safeTry(async function* () {
        const changes = yield* settingChanges(asked, input.options);
        for (const change of changes) {
          yield* (await access.change(change, made)).mapErr((failure) => refusalProblem(failure, OF_DATABASE));
        }
        const rules = yield* (await rulesOf(access)).mapErr((failure) => refusalProblem(failure, OF_DATABASE));
        return done({
          data: { name, ...rules },
          lines: [...settingLines(name, rules), ...(changes.length > 0 ? [[NOTICED]] : [])],
          next: 'workrail session hand-over --help',
        });
      }),
    );
  },
});

const NOTICED = 'Servers notice within five seconds.';

/** The rules that a command line names. */
export function settingChanges(
  handover: string | undefined,
  { fourEyes, maxSessions, maxSize }: CommandInput['options'],
): Result<readonly SettingChange[], CommandProblem> {
  const changes: SettingChange[] = [];
  if (handover !== undefined) {
    const known = HANDOVERS.find((one) => one === handover);
    if (known === undefined) {
      return err(usageProblem(`Unknown policy "${handover}".`, `Choose one of: ${HANDOVERS.join(', ')}.`));
    }
    changes.push({ handover: known });
  }
  if (fourEyes !== undefined) {
    if (fourEyes !== 'on' && fourEyes !== 'off') {
      return err(usageProblem(`--four-eyes cannot be "${String(fourEyes)}".`, 'Choose on or off.'));
    }
    changes.push({ isFourEyes: fourEyes === 'on' });
  }
  if (maxSessions !== undefined) {
    const openSessionsMax = Number(maxSessions);
    const { openSessionsMax: shape } = spaceLimitsShape.shape;
    if (!/^\d+$/.test(String(maxSessions)) || !shape.safeParse(openSessionsMax).success) {
      return err(usageProblem(`--max-sessions cannot be "${String(maxSessions)}".`, 'Give a whole number from 1.'));
    }
    changes.push({ openSessionsMax });
  }
  if (maxSize !== undefined) {
    const bytesMax = Math.round(Number(maxSize) * GB);
    const isPlain = /^\d+(?:\.\d+)?$/.test(String(maxSize));
    if (!isPlain || !spaceLimitsShape.shape.bytesMax.safeParse(bytesMax).success) {
      return err(usageProblem(`--max-size cannot be "${String(maxSize)}".`, 'Give gigabytes, such as 10 or 0.5.'));
    }
    changes.push({ bytesMax });
  }
  return ok(changes);
}

type Rules = z.output<typeof spaceRulesShape>;

function settingLines(name: string, { handover, isFourEyes, limits, sources, use, ci }: Rules): Line[] {
  const who =
    handover === 'space'
      ? 'every agent of the space'
      : 'only the person or program that started it, or one it was handed over to,';
  return [
    [`In the space ${name}, ${who} may continue a run.`],
    [
      isFourEyes
        ? 'Nobody may approve a draft of their own run, or one that their agent worked on.'
        : 'The author of a draft may approve it.',
    ],
    [`${use.openSessions} of at most ${plural(limits.openSessionsMax, 'open session')}.`],
    [`${sizeOf(use.bytes)} of at most ${sizeOf(limits.bytesMax)}.`],
    ...ci.map(({ issuer, host, repositories = [], ref }): Line => {
      const jobs = repositories.length === 0 || ref === undefined ? 'none' : `${repositories.join(', ')} at ${ref}`;
      return [`Jobs of ${issuer} count as evidence for ${host}: ${jobs}.`];
    }),
    ...sources.map((source): Line => [`Workflows from ${source.name}@${short(source.commit)}: ${source.url}`]),
  ];
}

export const spaceTrust = command({
  operands: [
    { syntax: '<name>', help: 'the name of the space' },
    { syntax: '<issuer>', help: 'the issuer URL in the tokens of the CI system (their claim "iss")' },
  ],
  options: [
    URL_OPTION,
    { flags: '--host <host>', help: 'the host of the repositories whose CI jobs are trusted, for example github.com' },
    {
      flags: '--repository <names>',
      help: "only jobs of these repositories, for example acme/shop,acme/api; '*' means any",
    },
    { flags: '--ref <ref>', help: "only jobs of this branch or tag, for example refs/heads/main; '*' means any" },
    { flags: '--remove', help: 'stop trusting this CI system' },
  ],
  example: 'workrail space trust shop https://ci.example --remove --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ name: z.string(), issuer: z.string(), isTrusted: z.boolean() }),
  run: (context, input) => {
    const [name = '', issuer = ''] = input.operands;
    const { host, repository, ref, remove } = input.options;
    const ofSpace = { ...input, options: { ...input.options, space: name } };
    return withAccess(context, ofSpace, async ({ access, made }) => {
      const next = `workrail audit verify --space ${name} --database-url URL`;
      if (remove === true) {
        const removed = await access.removeCi(issuer, made);
        if (removed.isErr()) return err(refusalProblem(removed.error, OF_DATABASE));
        if (!removed.value) {
          return err(problem(EXIT.notFound, `The space ${name} does not trust ${issuer}.`, 'Check the address.'));
        }
        const lines = [[`Results of jobs of ${issuer} no longer count as evidence in the space ${name}.`]];
        return done({ data: { name, issuer, isTrusted: false }, lines, next });
      }
      if (!(URL.canParse(issuer) && isSafeUrl(new URL(issuer))))
        return err(usageProblem(`"${issuer}" is not an issuer.`, 'Use its https address; http only on localhost.'));
      if (typeof host !== 'string' || !/^[\w.-]+(?::\d+)?$/.test(host)) {
        return err(
          usageProblem('--host is missing.', 'Add where its repositories are, for example --host github.com.'),
        );
      }
      const repositories = typeof repository === 'string' ? repository.split(',').filter((one) => one !== '') : [];
      if (repositories.length === 0 || typeof ref !== 'string' || ref === '') {
        return err(
          usageProblem(
            `${repositories.length === 0 ? '--repository' : '--ref'} is missing.`,
            "Name whose jobs count, because everybody who may push there decides what they say: --repository acme/shop --ref refs/heads/main. To allow any, write '*'.",
          ),
        );
      }
      const trusted = { issuer, host: host.toLowerCase(), repositories, ref };
      const set = await access.trustCi(trusted, made);
      if (set.isErr()) return err(refusalProblem(set.error, OF_DATABASE));
      return done({
        data: { name, issuer, isTrusted: true },
        lines: [
          [
            `Results of jobs of ${issuer} (${repositories.join(', ')} at ${ref}) now count as verified evidence for runs of their own repository.`,
          ],
        ],
        next,
      });
    });
  },
});
