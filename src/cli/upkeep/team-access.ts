import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { AccessToken, SpaceAccess } from '../../app/ports/team-database.ts';
import { createToken, tokenState } from '../../app/team/access.ts';
import { PRINCIPAL_BYTES_MAX } from '../../core/log/budgets.ts';
import { SessionId } from '../../core/log/ids.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { shellWord } from '../../core/text/words.ts';
import { ROLES, TOKEN_ROLES } from '../../core/wire/team-paths.ts';
import { GROUP_MARK, MEMBER_NAME, PRINCIPAL_NAME } from '../../core/wire/team-shapes.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { dim } from '../output/line.ts';
import { table } from '../output/text-width.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import type { TeamAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { teamProblem, URL_OPTION, withDatabase } from './team.ts';

const SPACE_OPTION = { flags: '--space <name>', help: 'the space in the database' };
export const SPACE_OPTIONS = [URL_OPTION, SPACE_OPTION];
const roleShape = z.enum(ROLES);
const tokenShape = z.strictObject({
  tokenId: z.string(),
  for: z.string(),
  role: z.enum(TOKEN_ROLES),
  expiresAt: z.iso.datetime(),
  state: z.enum(['valid', 'expired', 'revoked']),
});
const PERSON_FORM = '"ISSUER|SUBJECT"';
const GROUP_FORM = `"${GROUP_MARK}ISSUER|NAME"`;
const PRINCIPAL = {
  syntax: '<principal>',
  help: 'a member as ISSUER|SUBJECT: address of the identity provider and user id there, joined by "|", such as "https://idp|42"',
};

const MEMBER = {
  syntax: '<principal>',
  help: `a person or a group: ${PERSON_FORM}, or ${GROUP_FORM} for everyone whose token names that group`,
};

export const memberSet = command({
  operands: [MEMBER, { syntax: '<role>', help: `one of: ${ROLES.join(', ')}; each includes those before it` }],
  options: SPACE_OPTIONS,
  example: 'workrail member set "https://idp|42" agent --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ principal: z.string(), role: roleShape }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, made, space }) => {
      const [principal = '', asked] = input.operands;
      const role = roleShape.safeParse(asked).data;
      if (role === undefined)
        return err(usageProblem(`Unknown role "${asked}".`, `Choose one of: ${ROLES.join(', ')}.`));
      const name = memberProblem(principal);
      if (name !== undefined) return err(name);
      const set = await access.setMember({ principal, role }, made);
      if (set.isErr()) return err(refusalProblem(set.error, OF_DATABASE));
      return done({
        data: { principal, role },
        lines: [[`${principal} is now ${role} of the space ${space}.`]],
        next: `workrail member list --space ${space} --database-url URL`,
      });
    }),
});

export const sessionHandOver = command({
  operands: [{ syntax: '<id>', help: 'the id of the session' }, PRINCIPAL],
  options: SPACE_OPTIONS,
  example: 'workrail session hand-over ID "https://idp|42" --space shop --database-url URL',
  needsNoConfig: true,
  data: z.strictObject({ sessionId: z.string(), principal: z.string() }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, made, space }) => {
      const [asked = '', principal = ''] = input.operands;
      const wrong = principalProblem(principal);
      if (wrong !== undefined) return err(wrong);
      if (principal.startsWith(GROUP_MARK)) {
        return err(usageProblem('A session cannot be handed over to a group.', 'Name one person or program.'));
      }
      const sessionId = SessionId.schema.safeParse(asked).data;
      const given = sessionId === undefined ? ok(false) : await access.handOver(sessionId, principal, made);
      if (given.isErr()) return err(refusalProblem(given.error, OF_DATABASE));
      if (!given.value) {
        return err(
          problem(EXIT.notFound, `The space ${space} has no session ${asked}.`, 'Check the id and the space.'),
        );
      }
      return done({
        data: { sessionId: asked, principal },
        lines: [[`${principal} may now continue ${asked}, like its owner.`]],
        next: `workrail audit verify --space ${space} --database-url URL`,
      });
    }),
});

export const memberRemove = command({
  operands: [MEMBER],
  options: SPACE_OPTIONS,
  example: 'workrail member remove "https://idp|42" --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ principal: z.string() }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, made, space }) => {
      const [principal = ''] = input.operands;
      const removed = await access.removeMember(principal, made);
      if (removed.isErr()) return err(refusalProblem(removed.error, OF_DATABASE));
      if (!removed.value) return err(unknown(`${principal} has no role in the space ${space}.`, 'member', space));
      return done({
        data: { principal },
        lines: [[`${principal} has no role in the space ${space} any more.`]],
        next: `workrail member list --space ${space} --database-url URL`,
      });
    }),
});

export const memberList = command({
  options: SPACE_OPTIONS,
  example: 'workrail member list --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ members: z.array(z.strictObject({ principal: z.string(), role: roleShape })) }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, space }) => {
      const listed = await access.members();
      if (listed.isErr()) return err(refusalProblem(listed.error, OF_DATABASE));
      const members = listed.value.map(({ principal, role }) => ({ principal, role }));
      return done({
        data: { members },
        lines:
          members.length === 0
            ? [[`The space ${space} has no members yet.`]]
            : table(members.map(({ principal, role }) => [principal, role])),
        next: `workrail member set PRINCIPAL ROLE --space ${space} --database-url URL`,
      });
    }),
});

const DAYS_DEFAULT = 90;
const DAYS_MAX = 366;

export const tokenCreate = command({
  options: [
    ...SPACE_OPTIONS,
    { flags: '--for <name>', help: 'name of the program that uses the token; recorded with each of its actions' },
    { flags: '--role <role>', help: `one of: ${TOKEN_ROLES.join(', ')} (default: agent)` },
    { flags: '--days <days>', help: `days until the token expires (default: ${DAYS_DEFAULT}, at most ${DAYS_MAX})` },
  ],
  example: 'workrail token create --for ci-bot --days 30 --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ token: z.string(), ...tokenShape.omit({ state: true }).shape }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, made, team, space }) => {
      const { for: name, role = 'agent', days = String(DAYS_DEFAULT) } = input.options;
      const wrong = principalProblem(String(name ?? ''));
      if (wrong !== undefined) return err(wrong);
      // Otherwise what a program drafts would be a person's, and four eyes would see one of them twice.
      if (String(name).includes('|')) {
        return err(usageProblem('A token cannot have the name of a person.', 'Name the program, such as ci-bot.'));
      }
      const known = z.enum(TOKEN_ROLES).safeParse(role).data;
      if (known === undefined) {
        return err(
          usageProblem(`A token cannot have the role "${String(role)}".`, `Choose one of: ${TOKEN_ROLES.join(', ')}.`),
        );
      }
      const count = Number(days);
      if (!Number.isInteger(count) || count < 1 || count > DAYS_MAX) {
        return err(usageProblem(`--days cannot be "${String(days)}".`, `Give a whole number from 1 to ${DAYS_MAX}.`));
      }
      const wish = { principal: String(name), role: known, days: count, by: made.by, random: team.random() };
      const created = await createToken(team, access, wish);
      if (created.isErr()) return err(refusalProblem(created.error, OF_DATABASE));
      const { text, tokenId, principal, expiresAt } = created.value;
      const data = { token: text, tokenId, for: principal, role: known, expiresAt: new Date(expiresAt).toISOString() };
      return done({
        data,
        lines: [[text], [dim(`Shown only now; the database keeps only its hash. Valid until ${data.expiresAt}.`)]],
        next: `workrail token list --space ${space} --database-url URL`,
      });
    }),
});

export const tokenList = command({
  options: SPACE_OPTIONS,
  example: 'workrail token list --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ tokens: z.array(tokenShape) }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, team, space }) => {
      const listed = await access.tokens();
      if (listed.isErr()) return err(refusalProblem(listed.error, OF_DATABASE));
      const now = team.clock.nowMs();
      const tokens = listed.value.map((token) => shown(token, now));
      return done({
        data: { tokens },
        lines:
          tokens.length === 0
            ? [[`The space ${space} has no tokens yet.`]]
            : table(
                tokens.map((token) => [token.tokenId, token.for, token.role, token.state, `until ${token.expiresAt}`]),
              ),
        next: `workrail token create --for NAME --space ${space} --database-url URL`,
      });
    }),
});

export const tokenRevoke = command({
  operands: [{ syntax: '<id>', help: 'the id that "workrail token list" shows' }],
  options: SPACE_OPTIONS,
  example: 'workrail token revoke 1f2e3d4c --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({ tokenId: z.string() }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, made, space }) => {
      const [tokenId = ''] = input.operands;
      const revoked = await access.revokeToken(tokenId, made);
      if (revoked.isErr()) return err(refusalProblem(revoked.error, OF_DATABASE));
      if (!revoked.value) return err(unknown(`The space ${space} has no valid token ${tokenId}.`, 'token', space));
      return done({
        data: { tokenId },
        lines: [[`The token ${tokenId} is revoked. Calls with it are refused from now on.`]],
        next: `workrail token list --space ${space} --database-url URL`,
      });
    }),
});

export const OF_DATABASE = 'of the database';

function shown(token: AccessToken, now: number) {
  const { tokenId, principal, role, expiresAt } = token;
  const state = tokenState(token, now);
  return { tokenId, for: principal, role, expiresAt: new Date(expiresAt).toISOString(), state };
}

function principalProblem(principal: string, form = PRINCIPAL_NAME): CommandProblem | undefined {
  const isName = form.test(principal) && principal.isWellFormed();
  if (isName && utf8Length(principal) <= PRINCIPAL_BYTES_MAX) return undefined;
  return usageProblem(
    principal === '' ? 'The name is missing.' : `"${principal}" cannot be the name of a principal.`,
    `Give a name of at most ${PRINCIPAL_BYTES_MAX} bytes without spaces and without characters that cannot be seen.`,
  );
}

/** Programs have tokens, so only people and their groups are members. */
function memberProblem(principal: string): CommandProblem | undefined {
  const wrong = principalProblem(principal, MEMBER_NAME);
  if (wrong !== undefined || /^[^|]+\|./.test(principal)) return wrong;
  if (principal.startsWith(GROUP_MARK)) {
    const suggestion = `Use ${GROUP_FORM}: the address of your identity provider, a bar, and the name of the group in its tokens.`;
    return usageProblem(`"${principal}" is not the name of a group.`, suggestion);
  }
  return usageProblem(
    `"${principal}" is not the name of a person.`,
    `Use ${PERSON_FORM}: the address of your identity provider, a bar, and what it calls the person (the claim "sub"). Use ${GROUP_FORM} for a group. A program gets a token: workrail token create.`,
  );
}

function unknown(message: string, what: 'member' | 'token', space: string): CommandProblem {
  return problem(EXIT.notFound, message, `Run "workrail ${what} list --space ${shellWord(space)}".`);
}

export type Opened = {
  readonly access: SpaceAccess;
  readonly team: TeamAccess;
  readonly space: string;
  readonly made: { readonly by: string; readonly at: number };
};

export async function withAccess<Data>(
  context: CommandContext,
  input: CommandInput,
  work: (opened: Opened) => Promise<Result<CommandOutcome<Data>, CommandProblem>>,
): Promise<Result<CommandOutcome<Data>, CommandProblem>> {
  const { space } = input.options;
  if (typeof space !== 'string') {
    return err(usageProblem('--space is missing.', 'Add --space NAME; "workrail space list" shows them.'));
  }
  const team = await context.program.team();
  return withDatabase(context, input, async (database) => {
    const access = await database.access(space);
    if (access.isErr()) return err(teamProblem(access.error));
    return work({ access: access.value, team, space, made: { by: team.operator(), at: team.clock.nowMs() } });
  });
}
