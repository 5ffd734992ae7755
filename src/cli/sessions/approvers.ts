import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { ListChange } from '../../app/ports/approvers.ts';
import { signatureKind } from '../../core/approvals/approval-signature.ts';
import { type Approver, isApproverName } from '../../core/approvals/approver-list.ts';
import { SIGNATURE_KINDS } from '../../core/log/events/attestation-events.ts';
import { fingerprintSchema } from '../../core/log/ids.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { confirmLoosening } from '../loosening.ts';
import { dim, type Line, notable, strong } from '../output/line.ts';
import { table } from '../output/text-width.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';

const approverShape = z.strictObject({
  name: z.string(),
  fingerprint: fingerprintSchema,
  kind: z.enum(SIGNATURE_KINDS),
  comment: z.string(),
});

export const approversList = command({
  example: 'workrail approvers list',
  data: z.strictObject({
    /** The user's own list, which may not exist yet. */
    file: z.string(),
    /** The lists that were found, in words. */
    places: z.array(z.string()),
    /** Whose signatures count in this folder: keys that every list has. */
    approvers: z.array(approverShape),
    problems: z.array(z.string()),
  }),
  run: async ({ program }) => {
    const { find, own, folder } = await program.approvers();
    const { approvers, places, problems } = await find(folder);
    const none: Line = [
      places.length === 0
        ? `Nobody can sign approvals here yet: ${own.file} does not exist.`
        : `Nobody can sign approvals here: no key is in ${places.length > 1 ? 'both ' : ''}${places.join(' and ')}.`,
    ];
    const open = await own.openPlace();
    const warnings = open === undefined ? [] : [openWords(open)];
    return done({
      data: {
        file: own.file,
        places: [...places],
        approvers: approvers.map(shown),
        problems: [...problems, ...warnings],
      },
      lines: [
        ...(approvers.length === 0 ? [none] : table(approvers.map(row))),
        ...(places.length > 1 ? [[dim(`Only keys that are in ${places.join(' and in ')} count.`)]] : []),
        ...[...problems, ...warnings].map((text): Line => [notable(text)]),
      ],
      next: approvers.length > 0 ? 'workrail waiting' : places.length > 1 ? IN_BOTH : ADD,
    });
  },
});

const ADD = 'workrail approvers add ~/.ssh/id_ed25519.pub --name YOUR-NAME';
/** A key in one of two lists does not count. */
const IN_BOTH = `Add the same key to both lists. To add it to yours, run "${ADD}". To add it to the repository's, commit it to \`.workrail/approvers\` on the default branch.`;

function openWords(place: string): string {
  return `Other users of this machine can change ${place}, and so add keys. Run: chmod go-w ${shellWord(place)}`;
}

export const approversAdd = command({
  operands: [{ syntax: '<key>', help: 'a public SSH key: its file, or its text in quotation marks' }],
  options: [{ flags: '--name <name>', help: 'the person whose key it is (default: the comment of the key)' }],
  example: 'workrail approvers add ~/.ssh/id_ed25519_sk.pub --name alice',
  data: approverShape.extend({ file: z.string() }),
  run: (context, { operands: [named = ''], options }) =>
    safeTry(async function* () {
      const { own, signer, sha256 } = await context.program.approvers();
      const read = await own.publicKey(named);
      if (read.isErr()) return err(usageProblem(`This key cannot be used: ${read.error}`, KEY_HELP));
      const { key, comment } = read.value;
      const name = yield* nameOf(options['name'], comment);
      const approver = { name, key, comment };
      const isOpen = await signer.isUnprotected(named);
      yield* await confirmLoosening(
        context,
        {
          changes: [
            `${name} could sign approvals with the key ${key.fingerprint} (${key.type}).`,
            ...(isOpen ? [unprotectedWords(named)] : []),
          ],
          command: `workrail approvers add ${shellWord(named)} --name ${name}`,
          purpose: 'add this approver',
        },
        sha256,
      );
      yield* (await own.add(approver)).mapErr((change) => changeProblem(change, own.file));
      return done({
        data: { ...shown(approver), file: own.file },
        lines: [[`Added ${name} to ${own.file}. The key counts for runs that start from now on.`]],
        next: 'workrail approvers list',
      });
    }),
});

const KEY_HELP = 'Give the file of a public key, such as ~/.ssh/id_ed25519.pub.';

/** The private key is in the file beside the public one. */
function unprotectedWords(file: string): string {
  const key = shellWord(file.replace(/\.pub$/, ''));
  return `This key has no passphrase and is not in hardware, so an agent that can run commands can sign with it. Set a passphrase with "ssh-keygen -p -f ${key}", or use a security key or a passkey.`;
}

export const approversRemove = command({
  operands: [{ syntax: '<name>', help: 'the name or the fingerprint; "workrail approvers list" shows both' }],
  example: 'workrail approvers remove alice',
  data: z.strictObject({ file: z.string(), removed: z.array(approverShape) }),
  run: (context, { operands: [asked = ''] }) =>
    safeTry(async function* () {
      const { find, own } = await context.program.approvers();
      const { approvers } = await find(undefined);
      const removed = approvers.filter(({ name, key }) => name === asked || key.fingerprint === asked);
      if (removed.length === 0) {
        const known = approvers.map(({ name }) => name).join(', ');
        const list = known === '' ? 'The list is empty.' : `In the list: ${known}.`;
        return err(problem(EXIT.notFound, `"${asked}" is not in ${own.file}.`, list));
      }
      for (const { key } of removed) {
        yield* (await own.remove(key.fingerprint)).mapErr((change) => changeProblem(change, own.file));
      }
      return done({
        data: { file: own.file, removed: removed.map(shown) },
        lines: [
          [
            `Removed ${plural(removed.length, 'key')} of ${asked} from ${own.file}. Nothing that they signed counts at an open gate any more.`,
          ],
        ],
        next: 'workrail approvers list',
      });
    }),
});

function shown({ name, key, comment }: Approver): z.infer<typeof approverShape> {
  return { name, fingerprint: key.fingerprint, kind: signatureKind(key), comment };
}

function row({ name, key, comment }: Approver): readonly Line[number][] {
  return [strong(name), KIND_WORDS[signatureKind(key)], key.fingerprint, dim(comment)];
}

const KIND_WORDS: { readonly [kind in (typeof SIGNATURE_KINDS)[number]]: string } = {
  ssh_key: 'SSH key',
  security_key: 'security key',
  passkey: 'passkey',
};

function nameOf(given: unknown, comment: string): Result<string, CommandProblem> {
  const name = typeof given === 'string' ? given : comment.trim();
  if (isApproverName(name)) return ok(name);
  const message =
    typeof given === 'string'
      ? `"${name}" cannot be the name of an approver.`
      : 'The key has no comment that could be a name.';
  return err(usageProblem(message, 'Give a name of letters, digits, ".", "_", "-", "@" or "+": --name alice'));
}

function changeProblem(change: ListChange, file: string): CommandProblem {
  return change.code === 'already_there'
    ? problem(
        EXIT.failed,
        `${file} has this key already, as the key of ${change.approver.name}.`,
        'Run `workrail approvers list`.',
      )
    : problem(
        EXIT.failed,
        `${file} cannot be written (${change.cause}). Nothing was changed.`,
        'Check the folder and try again.',
      );
}
