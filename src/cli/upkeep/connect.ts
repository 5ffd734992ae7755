import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { SpaceSignInRefusal } from '../../app/ports/browser-sign-in.ts';
import { shellWord } from '../../core/text/words.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { dim } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** Whether nobody on the way can read or change what is sent: https, or this machine itself. */
export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOCAL.includes(hostname));
}

const SPACE = /^\/s\/[^/]+(?:\/mcp)?\/?$/;

const PORT_MAX = 65_535;

export const connect = command({
  operands: [{ syntax: '<url>', help: 'the address of a space: https://HOST/s/SPACE' }],
  options: [
    { flags: '--sign-in', help: "sign in at the team's identity provider, in a browser, and exit" },
    {
      flags: '--client-id <id>',
      help: 'the OAuth client id at the identity provider (default: WorkRail registers a client there)',
    },
    { flags: '--port <port>', help: 'local port to which the browser returns after sign-in (default: any free port)' },
    { flags: '--no-open', help: 'print the link to sign in, and do not open a browser' },
    { flags: '--sign-out', help: 'sign this machine out, and exit' },
  ],
  example: 'claude mcp add workrail -- workrail connect https://rail.example/s/shop',
  needsNoConfig: true,
  data: z.strictObject({
    space: z.string(),
    isSignedIn: z.boolean(),
    /** As roles are given to it; null after signing out. */
    principal: z.string().nullable(),
  }),
  run: async (context, { operands: [address = ''], options }) => {
    const url = spaceAddress(address);
    if (url.isErr()) return err(url.error);
    if (options['signIn'] === true) return signIn(context, url.value, options);
    if (options['signOut'] === true) return signOut(context, url.value);
    const { program, say } = context;
    const connected = await program.connect(url.value);
    if (connected.isErr()) return err(notSignedIn(addressOfSpace(url.value)));
    if (program.terminal.isInput()) {
      say([`Passing MCP on to ${url.value.href}, for an agent client. Press Ctrl-C to stop.`]);
      say([dim(`To register it: claude mcp add workrail -- workrail connect ${address}`)]);
    }
    return ok({ kind: 'serving' });
  },
});

type SignInOutcome = Result<
  CommandOutcome<{ readonly space: string; readonly isSignedIn: boolean; readonly principal: string | null }>,
  CommandProblem
>;

async function signIn(
  { program, say, switches }: CommandContext,
  url: URL,
  { clientId, port = '0', open }: CommandInput['options'],
): Promise<SignInOutcome> {
  if (switches.isJson || switches.isQuiet) {
    return err(usageProblem('Signing in shows a link to a person.', 'Run the command without --json and --quiet.'));
  }
  if (!/^\d{1,5}$/.test(String(port)) || Number(port) > PORT_MAX) {
    return err(refusalProblem({ code: 'port_unusable', asked: String(port), portMax: PORT_MAX }, ''));
  }
  const signedIn = await program.signIn(url, {
    clientId: typeof clientId === 'string' ? clientId : undefined,
    port: Number(port),
    show: async (at) => {
      const isOpened = open !== false && program.terminal.isOutput() && (await at.open());
      say([isOpened ? 'Sign in in your browser. If it is not open:' : 'Open this link to sign in:']);
      say([at.address]);
      say([dim('It works for five minutes, in a browser on this machine. Press Ctrl-C to stop.')]);
    },
  });
  const space = addressOfSpace(url);
  if (signedIn.isErr()) return err(signInProblem(signedIn.error, space));
  const { principal, name } = signedIn.value;
  const who = name === undefined ? principal : `${name} (${principal})`;
  return done({
    data: { space, isSignedIn: true, principal },
    lines: [
      [`Signed in to ${space} as ${who}.`],
      [
        dim(
          `If you have no role in this space yet, an admin gives you one: workrail member set ${shellWord(principal)} agent --space ${url.pathname.split('/')[2]}`,
        ),
      ],
    ],
    next: `workrail init --team ${space}`,
  });
}

async function signOut({ program }: CommandContext, url: URL): Promise<SignInOutcome> {
  const space = addressOfSpace(url);
  const ended = await program.signOut(url);
  const words = ended?.isRevoked === true ? '' : ' The identity provider was not asked to revoke anything.';
  return done({
    data: { space, isSignedIn: false, principal: null },
    lines: [[ended === undefined ? `You were not signed in to ${space}.` : `Signed out of ${space}.${words}`]],
    next: `workrail connect ${space} --sign-in`,
  });
}

function signInProblem(
  refusal: Parameters<typeof refusalProblem>[0] | SpaceSignInRefusal,
  space: string,
): CommandProblem {
  const again = 'Run the command again.';
  switch (refusal.code) {
    case 'team_unreachable':
      return problem(EXIT.failed, `${space} did not say how to sign in (${refusal.cause}).`, 'Check the address.');
    case 'provider_missing':
      return problem(EXIT.failed, `${space} has no identity provider.`, `${ASK_FOR_TOKEN}.`);
    case 'client_id_missing':
      return usageProblem(
        `${refusal.issuer} does not let programs register themselves.`,
        'Ask an admin of the team for the client id of WorkRail at the provider, and add --client-id ID.',
      );
    case 'identity_unreachable':
      return problem(EXIT.failed, `The identity provider did not answer (${refusal.cause}).`, again);
    case 'sign_in_refused':
      return problem(EXIT.failed, `The identity provider refused the sign-in (${refusal.cause}).`, again);
    case 'sign_in_unanswered':
      return problem(EXIT.needsPerson, 'Nobody signed in within five minutes.', again);
    case 'sign_in_not_kept':
      return problem(EXIT.failed, `${refusal.file} cannot be written (${refusal.cause}).`, 'Check the data folder.');
    default:
      return refusalProblem(refusal, '');
  }
}

const ASK_FOR_TOKEN =
  'Ask an admin of the space for a token (workrail token create), and set WORKRAIL_TOKEN in the environment of the client';

function notSignedIn(space: string): CommandProblem {
  return usageProblem(
    'You are not signed in, and WORKRAIL_TOKEN is not set, so the team server would not know you.',
    `Run: workrail connect ${space} --sign-in. Programs without a person: ${ASK_FOR_TOKEN}.`,
  );
}

/** The address as people write it, without what follows from it. */
export function addressOfSpace({ href }: URL): string {
  return href.replace(/\/mcp$/, '');
}

/** The MCP address of a space, for any way to write the space's address. */
export function spaceAddress(text: string): Result<URL, CommandProblem> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const form = 'Use https://HOST/s/SPACE; http only on localhost.';
  const words = (said: string) => err(usageProblem(said, form));
  // Neither is repeated: a program may have put a secret there.
  if (text.includes('@'))
    return words('The address contains a user name or a password, which would be stored and shown.');
  if (/[?#]/.test(text)) return words('The address of a space has no query and no fragment.');
  if (url === undefined || !isSafeUrl(url) || !SPACE.test(url.pathname)) {
    return words(`"${text}" is not the address of a space.`);
  }
  const path = url.pathname.replace(/\/$/, '');
  return ok(new URL(path.endsWith('/mcp') ? path : `${path}/mcp`, url));
}
