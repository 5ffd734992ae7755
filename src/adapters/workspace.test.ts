import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { cleanTreeDigest } from '../core/passport/passport.ts';
import { isSeen } from '../core/run/gate-facts.ts';
import { GIT_SILENT } from '../core/run/unseen-files.ts';
import { sharedName } from './sources/git-copies.ts';
import { nodeHasher } from './system.ts';
import { folderFacts, gitObserver, referenceFiles } from './workspace.ts';

/** On a busy machine git may need longer than it gets from a server. */
const PATIENT = { start: 20_000, short: 20_000, long: 20_000 };
const observer = gitObserver(nodeHasher, PATIENT);
/** As in a server. */
const hasty = gitObserver(nodeHasher);
let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-git-')));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('branch, commit and top folder of a repository are observed from any folder in it', async () => {
  git('init', '-q', '-b', 'topic/one');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  const commit = git('rev-parse', 'HEAD').trim();
  expect(await seen(folder)).toEqual({ git_branch: 'topic/one', git_head_sha: commit, repo_root: folder });
  git('checkout', '-q', '--detach');
  expect(await seen(folder)).toEqual({ git_head_sha: commit, repo_root: folder });
});

test('a repository without a commit has neither branch nor commit', async () => {
  git('init', '-q');
  expect(await seen(folder)).toEqual({ repo_root: folder });
});

test('outside of a repository only the workspace is observed, and nothing without one', async () => {
  expect(await seen(folder)).toEqual({ repo_root: folder });
  expect(await seen(join(folder, 'gone'))).toEqual({ repo_root: join(folder, 'gone') });
  expect(await observer.observe(undefined)).toEqual([]);
});

test('the author is the identity in the git settings of a repository, on one line', async () => {
  enforces('session_author');
  expect(await observer.author?.(folder)).toBeUndefined();
  git('init', '-q');
  git('config', 'user.name', 'Ada\tLove<lace>');
  git('config', 'user.email', 'ada@example.org');
  expect(await observer.author?.(folder)).toBe('Ada Love lace <ada@example.org>');
  git('config', 'user.name', 'x'.repeat(400));
  // Known for a minute, and asked again by the next server.
  expect(await observer.author?.(folder)).toContain('Ada');
  expect((await gitObserver(nodeHasher, PATIENT).author?.(folder))?.length).toBeLessThanOrEqual(256);
  expect(await observer.author?.(undefined)).toBeUndefined();
});

test('a folder without git has one name, however it is spelled', async () => {
  mkdirSync(join(folder, 'inner'));
  symlinkSync(join(folder, 'inner'), join(folder, 'link'));
  for (const spelled of ['link', 'inner/', 'gone/../inner', 'link/.']) {
    expect(await seen(`${folder}/${spelled}`)).toEqual({ repo_root: join(folder, 'inner') });
  }
});

test('a link into a repository observes the same as the repository', async () => {
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  mkdirSync(join(folder, 'inner'));
  const link = `${folder}-link`;
  symlinkSync(join(folder, 'inner'), link);
  try {
    expect(await seen(link)).toEqual(await seen(folder));
  } finally {
    rmSync(link);
  }
});

test.each(['--assume-unchanged', '--skip-worktree'])(
  'an edit of a file that git was told to overlook (%s) changes the digest of the files',
  async (mark) => {
    enforces('check_fresh_tree');
    git('init', '-q', '-b', 'main');
    writeFileSync(join(folder, 'code.txt'), 'good');
    git('add', '.');
    git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'first');
    git('update-index', mark, 'code.txt');
    const digest = async () => {
      const tree = await observer.tree(folder);
      return isSeen(tree) ? [tree.treeDigest, tree.changed] : tree?.unseen;
    };
    const before = await digest();
    expect(await digest()).toEqual(before);
    writeFileSync(join(folder, 'code.txt'), 'evil');
    expect(git('status', '--porcelain')).toBe('');
    expect(await digest()).not.toEqual(before);
    writeFileSync(join(folder, 'code.txt'), 'good');
    expect(await digest()).toEqual(before);
  },
);

test('files that are exactly the commit have the digest that a passport expects, also where every byte is read', async () => {
  enforces('merge_gate', 'check_fresh_tree');
  git('init', '-q', '-b', 'main');
  for (const name of ['one.txt', 'two.txt']) writeFileSync(join(folder, name), name);
  symlinkSync('one.txt', join(folder, 'link'));
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'first');
  const clean = cleanTreeDigest(git('rev-parse', 'HEAD^{tree}').trim(), nodeHasher);
  const digest = async () => ((await observer.tree(folder, 'short', true)) as { treeDigest: string }).treeDigest;
  expect(await digest()).toBe(clean);
  // A filter or a mark hides the content of a file from git; hidden in one file it is not what it is in another.
  git('config', 'filter.same.clean', 'git show HEAD:%f');
  writeFileSync(join(folder, '.git', 'info', 'attributes'), '*.txt filter=same\n');
  const hidden = [];
  for (const name of ['one.txt', 'two.txt']) {
    writeFileSync(join(folder, name), 'evil.sh');
    expect(git('status', '--porcelain')).toBe('');
    hidden.push(await digest());
    writeFileSync(join(folder, name), name);
  }
  expect(new Set([clean, ...hidden]).size).toBe(3);
  expect(await digest()).toBe(clean);
});

test.each([
  ['evil\nname.sh', 'good', 'evil'],
  ['about.sh', 'echo $Id$ 2', 'echo $Id: evil $ 2'],
])('an edit of %j changes the digest, whatever its name is and a filter hides', async (name, good, evil) => {
  enforces('check_fresh_tree');
  git('init', '-q', '-b', 'main');
  writeFileSync(join(folder, '.gitattributes'), '* ident\n');
  writeFileSync(join(folder, name), 'first');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'first');
  const digest = async () => {
    const tree = await observer.tree(folder);
    return isSeen(tree) ? tree.treeDigest : tree?.unseen;
  };
  writeFileSync(join(folder, name), good);
  const before = await digest();
  expect([before?.startsWith('sha256:'), await digest()]).toEqual([true, before]);
  writeFileSync(join(folder, name), evil);
  expect(await digest()).not.toBe(before);
});

test('a git that does not answer is abandoned', async () => {
  enforces('git_observed_before_lock');
  git('init', '-q');
  await withGit('exec sleep 60', async () => {
    expect(await seen(folder, hasty)).toEqual({ repo_root: folder });
  });
});

test('another machine learns why git cannot list the files', async () => {
  enforces('unseen_files_have_a_cause');
  const facts = () => folderFacts(folder, { isTreeAsked: true, sha256: nodeHasher.sha256, msMax: PATIENT });
  expect(await facts()).toEqual({});
  git('init', '-q', '-b', 'main');
  expect(await facts()).toMatchObject({ files_unseen: { unseen: 'no_commit' }, tree_digest: undefined });
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  expect(await facts()).toMatchObject({ files_unseen: undefined, tree_digest: expect.stringMatching(/^sha256:/) });
});

test('git gets more time where its answer is compared with an earlier one', async () => {
  enforces('git_time_out_is_unknown');
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  await withGit(`sleep 2.5; PATH="${process.env['PATH']}" exec ${real} "$@"`, async () => {
    const [short, long] = await Promise.all([hasty.tree(folder), hasty.tree(folder, 'long')]);
    expect([short, long]).toEqual([GIT_SILENT, expect.objectContaining({ changed: expect.any(Array) })]);
  });
});

test.each([
  ['git@git.example:acme/shop.git', 'git.example/acme/shop'],
  ['https://ann:secret@Git.example/acme/shop.git/', 'git.example/acme/shop'],
  ['ssh://git@git.example:2222/acme/shop', 'git.example/acme/shop'],
  ['git.example:acme/Shop', 'git.example/acme/Shop'],
  ['/srv/git/shop.git', undefined],
  ['../shop', undefined],
  ['file:///srv/git/shop.git', undefined],
  ['C:\\work\\shop', undefined],
  ['https://git.example/', undefined],
  ['', undefined],
])('the remote %s is %s on every machine', (remote, name) => {
  expect(sharedName(remote)).toBe(name);
});

test('git is not run outside of a repository', async () => {
  enforces('budget_list_start_cpu');
  const asked = join(folder, 'asked');
  await withGit(`touch ${asked}`, async () => {
    await seen(folder);
    expect(existsSync(asked)).toBe(false);
    mkdirSync(join(folder, '.git'));
    await seen(folder);
    expect(existsSync(asked)).toBe(true);
  });
});

test('git is not run to observe a plain repository', async () => {
  enforces('budget_list_start_cpu');
  makeRepository();
  const commit = git('rev-parse', 'HEAD').trim();
  const asked = join(folder, 'asked');
  await withGit(`touch ${asked}`, async () => {
    expect(await seen(folder)).toEqual({ git_branch: 'topic/one', git_head_sha: commit, repo_root: folder });
    expect(existsSync(asked)).toBe(false);
  });
});

const FORMS: readonly (readonly [form: string, make: () => void, workspace: string])[] = [
  ['a branch', () => undefined, '.'],
  ['a folder of it', () => mkdirSync(join(folder, 'in/ner'), { recursive: true }), 'in/ner'],
  ['no branch', () => git('checkout', '-q', '--detach'), '.'],
  ['a branch without a commit', () => git('checkout', '-q', '--orphan', 'new'), '.'],
  ['packed branches', () => git('pack-refs', '--all'), '.'],
  ['a branch that means another', () => git('symbolic-ref', 'refs/heads/topic/one', 'refs/heads/two'), '.'],
  ['a link as its head', () => linkHead(), '.'],
  ['another work tree', () => git('worktree', 'add', '-q', join(folder, 'tree'), 'two'), 'tree'],
  ['its own folder', () => undefined, '.git/refs'],
  ['a repository without files in it', () => git('init', '-q', '--bare', join(folder, 'bare')), 'bare'],
  ['a repository without files', () => git('config', 'core.bare', 'true'), '.'],
  ['files in another folder', () => git('config', 'core.worktree', tmpdir()), '.'],
  ['included settings', () => includeSettings('[core]\n\tbare = true\n'), '.'],
  ['a link as its settings', () => linkSettings(), '.'],
  ['more settings than are read', () => addSettings(`${'# \n'.repeat(30_000)}[core]\n\tbare = true\n`), '.'],
  [
    'a branch outside of the repository',
    () => writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/../../x\n'),
    '.',
  ],
  ['no objects', () => rmSync(join(folder, '.git/objects'), { recursive: true }), '.'],
];

test.each(FORMS)('a repository with %s is observed as git sees it', async (_, make, workspace) => {
  makeRepository();
  make();
  const at = join(folder, workspace);
  const [top, commit] = [said(at, '--show-toplevel'), said(at, '--verify', 'HEAD')];
  const branch = commit && said(at, '--symbolic-full-name', 'HEAD')?.replace('refs/heads/', '');
  const found = await seen(at);
  expect([found['git_head_sha'], found['git_branch'] ?? 'HEAD']).toEqual(
    top ? [commit, branch ?? 'HEAD'] : [undefined, 'HEAD'],
  );
  if (top !== undefined && top !== realpathSync(tmpdir())) expect(found['repo_root']).toBe(top);
});

function makeRepository(): void {
  git('init', '-q', '-b', 'topic/one');
  git('-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('branch', 'two');
}

function linkHead(): void {
  rmSync(join(folder, '.git/HEAD'));
  symlinkSync('refs/heads/two', join(folder, '.git/HEAD'));
}

function linkSettings(): void {
  git('config', 'core.bare', 'true');
  renameSync(join(folder, '.git/config'), join(folder, 'settings'));
  symlinkSync('../settings', join(folder, '.git/config'));
}

function addSettings(text: string): void {
  appendFileSync(join(folder, '.git/config'), text);
}

function includeSettings(text: string): void {
  writeFileSync(join(folder, 'more'), text);
  git('config', 'include.path', join(folder, 'more'));
}

/** What git says; `undefined` if it refuses to. */
function said(at: string, ...questions: readonly string[]): string | undefined {
  try {
    return execFileSync('git', ['-C', at, 'rev-parse', ...questions], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}

/** With another program in the place of git. */
async function withGit(script: string, work: () => Promise<void>): Promise<void> {
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'git'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}:${path}`;
  try {
    await work();
  } finally {
    process.env['PATH'] = path;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
}

async function seen(workspace: string, by = observer): Promise<Record<string, string>> {
  const observed = await by.observe(workspace);
  const shown = observed.filter(({ key }) => key !== 'repo_root_hash');
  return Object.fromEntries(shown.map(({ key, value }) => [key, value.value]));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-refs-'));
  writeFileSync(join(folder, 'guide.md'), '# Guide\n');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const declared = { id: 'guide', title: 'Guide', purpose: 'How we write.', isAuthoritative: true } as const;

test('a referenced document is found in the workspace or in the package, and a missing one is marked', async () => {
  const finder = referenceFiles('/package');
  const references = [
    { ...declared, source: 'guide.md', resolveFrom: 'workspace' as const },
    { ...declared, source: 'absent.md', resolveFrom: 'workspace' as const },
    { ...declared, source: 'guide.md', resolveFrom: 'package' as const },
    { ...declared, source: 'https://example.org/guide', resolveFrom: 'workspace' as const },
    { ...declared, source: '.', resolveFrom: 'workspace' as const },
  ];
  const found = await finder.find(references, { workspace: folder, file: '/team/flows/x.json' });
  expect(found.map(({ path, isResolved }) => [path, isResolved])).toEqual([
    [join(folder, 'guide.md'), true],
    [join(folder, 'absent.md'), false],
    ['/team/flows/guide.md', false],
    ['https://example.org/guide', true],
    [join(folder, '.'), false],
  ]);
  const nowhere = await finder.find(references, { workspace: undefined, file: 'x.json' });
  expect(nowhere.map(({ path }) => path)[0]).toBe('guide.md');
});

test('a referenced document outside of the workspace is marked, also through a link', async () => {
  enforces('references_by_lifecycle');
  const workspace = join(folder, 'project');
  mkdirSync(join(workspace, 'docs'), { recursive: true });
  writeFileSync(join(workspace, 'docs', 'own.md'), '# Own\n');
  symlinkSync(join(folder, 'guide.md'), join(workspace, 'docs', 'link.md'));
  const finder = referenceFiles(join(folder, 'install', 'workflows'));
  const sources = [
    'docs/own.md',
    '../guide.md',
    'docs/../../guide.md',
    join(folder, 'guide.md'),
    'docs/link.md',
    'docs/none.md',
    '../none.md',
  ];
  const inWorkspace = sources.map((source) => ({ ...declared, source, resolveFrom: 'workspace' as const }));
  const inPackage = ['own.md', '../../guide.md'].map((source) => ({
    ...declared,
    source,
    resolveFrom: 'package' as const,
  }));
  const web = { ...declared, source: 'https://example.org/guide', resolveFrom: 'workspace' as const };
  const found = await finder.find([...inWorkspace, ...inPackage, web], {
    workspace,
    file: join(workspace, 'docs', 'x.json'),
  });
  expect(found.map(({ isOutside }) => isOutside)).toEqual([
    false,
    true,
    true,
    true,
    true,
    false,
    true,
    false,
    true,
    true,
  ]);
  expect(found.map(({ isResolved }) => isResolved).slice(-3)).toEqual([true, true, true]);
});

test('a document of a bundled routine is found beside the bundle when another file calls the routine', async () => {
  const finder = referenceFiles(folder);
  const reference = { ...declared, source: 'guide.md', resolveFrom: 'package' as const };
  const [found] = await finder.find([reference], { workspace: undefined, file: '/team/flows/x.json' });
  expect(found).toMatchObject({ path: join(folder, 'guide.md'), isResolved: true, isOutside: false });
});
