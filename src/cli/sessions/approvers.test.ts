import { expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { sshApprover } from '../../../test/examples/approvers.ts';
import type { ApproverAccess } from '../program.ts';

type Lists = { readonly names?: readonly string[]; readonly places: readonly string[]; readonly open?: string };

const list = ({ names = [], places, open }: Lists, ...more: readonly string[]) => {
  const known = { approvers: names.map((name) => sshApprover(name).approver), places, problems: [] };
  const approvers = {
    find: async () => known,
    own: { file: '/home/me/.workrail/approvers', openPlace: async () => open },
    folder: '/work',
  } as unknown as ApproverAccess;
  return runFake({ argv: ['approvers', 'list', ...more], approvers });
};

it('approvers list says that a key must be in both lists, and how it gets there', async () => {
  const { out, talk } = await list({ places: ['A', 'B'] });
  expect(out).toContain('Nobody can sign approvals here: no key is in both A and B.\n');
  expect(talk).toMatch(
    /^Next: Add the same key to both lists\. To add it to yours, run "workrail approvers add .*"\. To add it to the/,
  );
  // One list gets a key with the command alone.
  for (const places of [[], ['A']]) {
    expect((await list({ places })).talk).toBe('Next: workrail approvers add ~/.ssh/id_ed25519.pub --name YOUR-NAME\n');
  }
  expect((await list({ names: ['alice'], places: ['A', 'B'] })).talk).toBe('Next: workrail waiting\n');
});

it('approvers list warns of a list that other users can change', async () => {
  const words = 'Other users of this machine can change /a list, and so add keys. Run: chmod go-w ';
  const open = { names: ['alice'], places: ['A'], open: '/a list' };
  expect((await list(open)).out).toContain(words);
  expect(JSON.parse((await list(open, '--json')).out).data.problems).toEqual([expect.stringContaining(words)]);
  expect((await list({ names: ['alice'], places: ['A'] })).out).not.toContain('chmod');
});
