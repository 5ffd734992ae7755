import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { runCheck } from '../../app/run/attest-check.ts';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import { cleanTreeDigest } from '../../core/passport/passport.ts';
import { isSeen } from '../../core/run/gate-facts.ts';
import type { UnseenFiles } from '../../core/run/unseen-files.ts';
import { checkRunWords } from '../../core/views/attestations.ts';
import { nodeHasher } from '../system.ts';
import { gitObserver } from '../workspace.ts';
import { checkRunner } from './command-runner.ts';
import { withBase } from './throw-away-worktree.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-read-tree-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [plain, withSub] = ['plain', 'with-sub'].map((name) => join(folder, name)) as [string, string];
const AUTHOR = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
const git = (at: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', at, ...AUTHOR, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
const commitAll = (at: string) => {
  git(at, 'add', '-A');
  git(at, 'commit', '-qm', 'All');
};
const put =
  (path: string, text = 'evil\n') =>
  (at: string) => {
    mkdirSync(join(at, path, '..'), { recursive: true });
    writeFileSync(join(at, path), text);
  };
const set = (key: string, value: string) => (at: string) => git(at, 'config', key, value);
const all =
  (...steps: readonly ((at: string) => unknown)[]) =>
  (at: string) => {
    for (const step of steps) step(at);
  };

beforeAll(() => {
  mkdirSync(plain);
  git(plain, 'init', '-q', '-b', 'main');
  all(
    put('.gitignore', 'DATA/\n'),
    put('a.txt', 'good\n'),
    put('src/b.txt', 'good\n'),
    put('src/c.txt', 'fine\n'),
  )(plain);
  symlinkSync('a.txt', join(plain, 'link'));
  commitAll(plain);
  cpSync(plain, withSub, { recursive: true, verbatimSymlinks: true });
  git(withSub, 'submodule', '--quiet', 'add', plain, 'sub');
  commitAll(withSub);
});

const patient = gitObserver(nodeHasher, { start: 20_000, short: 20_000, long: 20_000 });
async function digest(at: string, isEveryByteRead: boolean): Promise<string | undefined> {
  const tree = await patient.tree(at, 'long', isEveryByteRead);
  return isSeen(tree) ? tree.treeDigest : tree?.unseen;
}

/** Runs the command of a check in a folder. */
function ranAt(at: string, command: string) {
  const found = { workspace: at, root: at, wasInRepository: true, origin: { agentKeys: [] } };
  const due = { ...found, check: { checkId: 'tests' }, command } as never;
  const how = { timeoutMs: 20_000, isConfirmed: true, onOutput: async () => undefined };
  return runCheck({ workspace: patient, hasher: nodeHasher, checkRunner }, due, how);
}

/** Makes git look at a copy of the files. */
function lookAway(at: string): void {
  const copy = `${at} copy`;
  cpSync(at, copy, { recursive: true, verbatimSymlinks: true });
  git(at, 'config', 'core.worktree', copy);
}

/** A filter that makes every file look as it was committed, assigned by a list of attributes. */
const filter = (list: string) => all(set('filter.same.clean', 'git show HEAD:%f'), put(list, '*.txt filter=same\n'));

/** Remembers which new files there are, and does not notice one that is added in the same instant. */
function cacheUntracked(at: string): void {
  git(at, 'config', 'core.untrackedCache', 'true');
  git(at, 'update-index', '--force-untracked-cache');
  git(at, 'status');
  git(at, 'status');
}

function addUnnoticed(at: string): void {
  const { atime, mtime } = statSync(join(at, 'src'));
  put('src/new.js')(at);
  utimesSync(join(at, 'src'), atime, mtime);
}

/** Puts another content of a file into the index and into a stored tree of the last commit, which keeps its name. */
function forgeTree(at: string): void {
  const [before, tree] = ['HEAD:src/c.txt', 'HEAD:src'].map((name) => git(at, 'rev-parse', name)) as [string, string];
  put('src/c.txt')(at);
  const after = git(at, 'hash-object', '-w', 'src/c.txt');
  const forge = (bytes: Buffer) => {
    bytes.set(Buffer.from(after, 'hex'), bytes.indexOf(Buffer.from(before, 'hex')));
    return bytes;
  };
  const index = forge(readFileSync(join(at, '.git/index')).subarray(0, -20));
  writeFileSync(join(at, '.git/index'), Buffer.concat([index, createHash('sha1').update(index).digest()]));
  const object = join(at, '.git/objects', tree.slice(0, 2), tree.slice(2));
  chmodSync(object, 0o644);
  writeFileSync(object, deflateSync(forge(inflateSync(readFileSync(object)))));
}

/** Marks files as looked at by a monitor that never says anything. */
function monitor(at: string): void {
  writeFileSync(join(at, '.git/quiet'), '#!/bin/sh\nprintf "token\\0"\n');
  chmodSync(join(at, '.git/quiet'), 0o755);
  for (const [key, value] of [
    ['core.fsmonitor', join(at, '.git/quiet')],
    ['core.fsmonitorHookVersion', '2'],
  ]) {
    git(at, 'config', key as string, value as string);
  }
  git(at, 'update-index', '--fsmonitor');
  git(at, 'status');
  git(at, 'update-index', '--fsmonitor-valid', 'a.txt');
}

/** What an agent prepares before the files are looked at, and what it does after that. */
type Attack = readonly [before: (at: string) => unknown, after: (at: string) => unknown];

const excluded = (at: string) => appendFileSync(join(at, '.git/info/exclude'), '*.js\n');
const nothing = () => undefined;

const ATTACKS: { readonly [name: string]: Attack } = {
  'edits where git was told to look at a copy': [lookAway, put('a.txt')],
  'adds where git was told to look at a copy': [lookAway, put('new.js')],
  'edits where a configuration of the worktree tells git to look at a copy': [
    all(set('extensions.worktreeConfig', 'true'), lookAway),
    put('a.txt'),
  ],
  'edits in a repository that says it has no files': [set('core.bare', 'true'), put('a.txt')],
  'adds what .git/info/exclude names': [excluded, put('new.js')],
  'adds a folder that .git/info/exclude names': [excluded, put('more/new.js')],
  'names a new file in .git/info/exclude together with it': [nothing, all(excluded, put('new.js'))],
  'adds what core.excludesFile names': [
    all(set('core.excludesFile', '.git/own'), put('.git/own', '*.js\n')),
    put('new.js'),
  ],
  'adds what a file that the settings include excludes': [
    all(set('include.path', 'more'), put('.git/more', '[core]\nexcludesFile = .git/own\n'), put('.git/own', '*.js\n')),
    put('new.js'),
  ],
  'adds a .gitignore that names itself': [nothing, all(put('src/.gitignore', '*\n!b.txt\n'), put('src/new.js'))],
  'adds a folder with a .gitignore that names everything': [nothing, all(put('x/.gitignore', '*\n'), put('x/new.js'))],
  'changes a .gitignore that names itself': [put('src/.gitignore', '.gitignore\n'), put('src/.gitignore', '*\n')],
  'adds a second spelling of an ignored name': [set('core.ignoreCase', 'true'), put('data/new.js')],
  'adds where new files are not shown': [set('status.showUntrackedFiles', 'no'), put('new.js')],
  'adds where git remembers new files': [cacheUntracked, addUnnoticed],
  'edits behind a monitor': [monitor, put('a.txt', 'evil\n')],
  'edits where times and sizes decide': [
    all(set('core.checkStat', 'minimal'), set('core.trustctime', 'false')),
    (at) => {
      const { atime, mtime } = statSync(join(at, 'a.txt'));
      put('a.txt')(at);
      utimesSync(join(at, 'a.txt'), atime, mtime);
    },
  ],
  'edits what git was told to take for unchanged': [
    all(set('core.ignoreStat', 'true'), put('a.txt', 'good\n\n'), (at) => git(at, 'add', 'a.txt')),
    put('a.txt', 'evil\n\n'),
  ],
  'edits a file that is left out of the work tree': [
    all(
      set('sparse.expectFilesOutsideOfPatterns', 'true'),
      (at) => git(at, 'sparse-checkout', 'set', 'src'),
      (at) => git(at, 'update-index', '--skip-worktree', 'a.txt'),
    ),
    put('a.txt'),
  ],
  'makes a file a program where modes do not count': [
    set('core.fileMode', 'false'),
    (at) => chmodSync(join(at, 'a.txt'), 0o755),
  ],
  'replaces a link by its text where links do not count': [
    set('core.symlinks', 'false'),
    (at) => {
      rmSync(join(at, 'link'));
      writeFileSync(join(at, 'link'), 'a.txt');
    },
  ],
  'changes line breaks where they do not count': [set('core.autocrlf', 'true'), put('a.txt', 'good\r\n')],
  'edits behind a filter of .git/info/attributes': [filter('.git/info/attributes'), put('a.txt')],
  'edits behind a filter of core.attributesFile': [
    all(set('core.attributesFile', '.git/own'), filter('.git/own')),
    put('a.txt'),
  ],
  'edits behind a filter of a committed .gitattributes': [
    all(put('.gitattributes', '*.txt filter=same\n'), commitAll, set('filter.same.clean', 'git show HEAD:%f')),
    put('a.txt'),
  ],
  'edits behind a filter of a .gitattributes that is ignored': [
    all(put('.gitignore', '.gitattributes\nDATA/\n'), commitAll, set('filter.same.clean', 'git show HEAD:%f')),
    all(put('src/.gitattributes', '*.txt filter=same\n'), put('src/b.txt')),
  ],
  'edits behind a process of a committed .gitattributes that takes the name of LFS': [
    all(put('src/.gitattributes', '*.txt filter=lfs\n'), commitAll, set('filter.lfs.clean', 'git show HEAD:%f')),
    put('src/b.txt'),
  ],
  'edits behind a filter that is removed again after git has looked': [
    all(put('.gitattributes', '*.txt filter=same\n'), commitAll),
    (at) => {
      set('filter.same.clean', 'git show HEAD:%f')(at);
      put('a.txt')(at);
      utimesSync(join(at, 'a.txt'), 1_000_000_000, 1_000_000_000);
      git(at, 'add', 'a.txt');
      git(at, 'config', '--remove-section', 'filter.same');
    },
  ],
  'changes what the tree of the commit says': [nothing, forgeTree],
  'edits a new file whose name ends in a carriage return': [put('a.txt\r', 'one\n'), put('a.txt\r', 'two\n')],
  'edits in a submodule that is not looked at': [
    all(set('submodule.sub.ignore', 'all'), set('diff.ignoreSubmodules', 'all')),
    put('sub/a.txt'),
  ],
  'replaces the commit by another one': [
    nothing,
    (at) => {
      const before = git(at, 'rev-parse', 'HEAD');
      put('a.txt')(at);
      commitAll(at);
      git(at, 'replace', before, 'HEAD');
      git(at, 'update-ref', 'refs/heads/main', before);
    },
  ],
};

test.each([false, true])(
  'no setting, mark or list outside of the work tree hides a file from the digest (every byte read: %s)',
  async (isEveryByteRead) => {
    enforces('signed_tree_asked_again', 'check_fresh_tree');
    const hidden: string[] = [];
    for (const [i, [name, [before, after]]] of Object.entries(ATTACKS).entries()) {
      const at = join(folder, `${isEveryByteRead} ${i}`);
      cpSync(name.includes('submodule') ? withSub : plain, at, { recursive: true, verbatimSymlinks: true });
      before(at);
      const first = await digest(at, isEveryByteRead);
      after(at);
      const second = await digest(at, isEveryByteRead);
      const isSeen = [first, second].every((one) => one?.startsWith('sha256:')) && first !== second;
      if (!isSeen) hidden.push(name);
    }
    expect(hidden).toEqual([]);
  },
  120_000,
);

test('a repository with LFS is clean for the quick look, which does not read its large files', async () => {
  const at = join(folder, 'lfs');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  all(put('.gitattributes', 'a.txt filter=lfs\n'), commitAll)(at);
  const clean = cleanTreeDigest(git(at, 'rev-parse', 'HEAD^{tree}'), nodeHasher);
  // What a file of LFS has on the disk is not what is committed.
  set('filter.lfs.clean', 'git show HEAD:%f')(at);
  put('a.txt', 'a large file\n')(at);
  utimesSync(join(at, 'a.txt'), 1_000_000_000, 1_000_000_000);
  git(at, 'add', 'a.txt');
  set('filter.lfs.clean', 'git-lfs clean -- %f')(at);
  set('filter.lfs.process', 'git-lfs filter-process')(at);
  expect(await digest(at, false)).toBe(clean);
  expect(await digest(at, true)).not.toBe(clean);
});

test.each([false, true])(
  'variables of the process do not point git to other files (every byte read: %s)',
  async (isEveryByteRead) => {
    enforces('signed_tree_asked_again', 'check_fresh_tree');
    const [at, copy] = ['asked', 'elsewhere'].map((name) => join(folder, `${name} ${isEveryByteRead}`)) as [
      string,
      string,
    ];
    for (const to of [at, copy]) cpSync(plain, to, { recursive: true, verbatimSymlinks: true });
    put('a.txt')(at);
    const expected = await digest(at, isEveryByteRead);
    const named = {
      GIT_DIR: join(copy, '.git'),
      GIT_WORK_TREE: copy,
      GIT_INDEX_FILE: join(copy, '.git/index'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.worktree',
      GIT_CONFIG_VALUE_0: copy,
    };
    const before = { ...process.env };
    Object.assign(process.env, named);
    try {
      expect(await digest(at, isEveryByteRead)).toBe(expected);
    } finally {
      for (const name of Object.keys(named)) delete process.env[name];
      Object.assign(process.env, before);
    }
    expect(expected).not.toBe(await digest(copy, isEveryByteRead));
  },
);

test('a check is recorded for the files as they are, also where the index of git was made to overlook an edit', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'overlooked');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  const clean = cleanTreeDigest(git(at, 'rev-parse', 'HEAD^{tree}'), nodeHasher);
  filter('.git/info/attributes')(at);
  put('a.txt')(at);
  utimesSync(join(at, 'a.txt'), 1_000_000_000, 1_000_000_000);
  git(at, 'add', 'a.txt');
  rmSync(join(at, '.git/info/attributes'));
  git(at, 'config', '--remove-section', 'filter.same');
  expect(git(at, 'status', '--porcelain')).toBe('');
  const { statement } = await ranAt(at, 'true');
  expect([statement.exitCode, statement.treeDigest === clean]).toEqual([0, false]);
});

/** Each entry hides the files before the command, and puts them back in the command. */
const HIDDEN_AT_FIRST: { readonly [name: string]: readonly [...Attack, cause: UnseenFiles['unseen']] } = {
  'the repository is elsewhere': [
    (at) => renameSync(join(at, '.git'), join(at, '.git.away')),
    put('run.sh', 'mv .git.away .git\n'),
    'repository_gone',
  ],
  'the repository is damaged': [
    (at) => writeFileSync(join(at, '.git/HEAD'), 'junk'),
    put('run.sh', 'echo ref: refs/heads/main > .git/HEAD\n'),
    'git_failed',
  ],
  'a new file has a name that is not text': [
    (at) => writeFileSync(Buffer.concat([Buffer.from(`${at}/caf`), Buffer.from([0xe9])]), ''),
    put('run.sh', 'rm caf*\n'),
    'name_not_text',
  ],
};

test.each(Object.entries(HIDDEN_AT_FIRST))(
  'a check records no files if git could not list them before the command (%s)',
  async (name, [hide, show, cause]) => {
    enforces('check_fresh_tree', 'merge_gate');
    const at = join(folder, name);
    cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
    put('run.sh', 'exit 1\n')(at);
    commitAll(at);
    show(at);
    appendFileSync(join(at, 'run.sh'), 'git checkout -q -- .\n');
    hide(at);
    const { statement, unseen } = await ranAt(at, 'sh run.sh');
    expect(unseen?.unseen).toBe(cause);
    expect([statement.exitCode, git(at, 'status', '--porcelain')]).toEqual([0, '']);
    expect(statement).not.toHaveProperty('treeDigest');
    expect(statement).not.toHaveProperty('headSha');
  },
);

/** Each entry keeps git from listing the files, and has the cause that WorkRail reports. */
const UNSHOWN: { readonly [name: string]: readonly [(at: string) => unknown, UnseenFiles] } = {
  'a committed name is not text': [
    all((at) => writeFileSync(Buffer.concat([Buffer.from(`${at}/caf`), Buffer.from([0xe9])]), 'one\n'), commitAll),
    { unseen: 'name_not_text', path: 'caf\uFFFD' },
  ],
  'a name in a submodule is not text': [
    (at) => {
      writeFileSync(Buffer.concat([Buffer.from(`${at}/sub/caf`), Buffer.from([0xe9])]), 'one\n');
    },
    { unseen: 'name_not_text', path: 'sub/caf\uFFFD' },
  ],
  'there is no commit yet': [
    (at) => {
      rmSync(join(at, '.git'), { recursive: true });
      git(at, 'init', '-q');
    },
    { unseen: 'no_commit' },
  ],
  'a repository inside of it has no commit yet': [
    (at) => git(at, 'init', '-q', 'nested'),
    { unseen: 'no_commit', path: 'nested/' },
  ],
  'the repository is damaged': [
    (at) => writeFileSync(join(at, '.git/HEAD'), 'junk'),
    { unseen: 'git_failed', said: 'fatal: not a git repository (or any of the parent directories): .git' },
  ],
  'the commit is gone': [
    (at) => writeFileSync(join(at, '.git/HEAD'), 'a'.repeat(40)),
    { unseen: 'git_failed', said: 'fatal: bad object HEAD' },
  ],
};

test.each(Object.entries(UNSHOWN))('if git cannot list the files, the cause is known: %s', async (name, at) => {
  enforces('unseen_files_have_a_cause');
  const [damage, cause] = at;
  const copy = join(folder, `unshown ${name}`);
  cpSync(withSub, copy, { recursive: true, verbatimSymlinks: true });
  damage(copy);
  expect(await patient.tree(copy, 'long', true)).toEqual(cause);
});

test('a machine without git is not taken for a damaged repository', async () => {
  enforces('unseen_files_have_a_cause');
  const { PATH } = process.env;
  process.env['PATH'] = folder;
  try {
    const said = 'the program git was not found';
    expect(await patient.tree(plain, 'long', true)).toEqual({ unseen: 'git_failed', said });
  } finally {
    process.env['PATH'] = PATH;
  }
});

test.each([
  ['git did not answer at the start, so the subfolder was recorded as the top', (at: string) => join(at, 'src')],
  [
    'the subfolder was a repository of its own at the start',
    (at: string) => {
      git(join(at, 'src'), 'init', '-q');
      rmSync(join(at, 'src/.git'), { recursive: true });
      return join(at, 'src');
    },
  ],
  [
    'the folder was replaced by a link to a subfolder',
    (at: string) => {
      symlinkSync(join(at, 'src'), `${at} link`);
      return `${at} link`;
    },
  ],
])('a check that runs in a subfolder is recorded as one of the subfolder: %s', async (why, moved) => {
  const at = join(folder, `below ${why.slice(0, 30)}`);
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  const started = moved(at);
  const { statement } = await ranAt(started, 'true');
  expect(statement).toMatchObject({ exitCode: 0, folder: 'src', treeDigest: await digest(at, true) });
});

test('a check is recorded with the number of files that differed from the commit, and with none on a clean tree', async () => {
  const at = join(folder, 'dirty');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  expect((await ranAt(at, 'true')).statement).not.toHaveProperty('uncommitted');
  all(put('a.txt', 'edited\n'), put('new.txt', 'new\n'))(at);
  const { statement } = await ranAt(at, 'true');
  expect(statement).toMatchObject({ uncommitted: 2, headSha: git(at, 'rev-parse', 'HEAD') });
  expect(checkRunWords(statement, { via: 'terminal' } as never)).toMatch(
    /^ended with exit code 0, with 2 files changed since commit \w{10}, run by/,
  );
});

test('a command that moves its own folder to another repository is recorded without files', async () => {
  const at = join(folder, 'moving');
  for (const name of ['here', 'there']) cpSync(plain, join(at, name), { recursive: true, verbatimSymlinks: true });
  const named = join(at, 'named');
  symlinkSync(join(at, 'here'), named);
  const { statement, unseen } = await ranAt(
    named,
    `rm ${JSON.stringify(named)} && ln -s there ${JSON.stringify(named)}`,
  );
  expect([statement.exitCode, statement.treeDigest, unseen]).toEqual([0, undefined, { unseen: 'folder_elsewhere' }]);
});

test('any number of names with line breaks can be compared, in a folder whose own name has one', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'odd\nfolder');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  for (let i = 0; i < 205; i++) put(`new\n${i}`, `${i}`)(at);
  const first = await digest(at, true);
  put('new\n203', 'evil')(at);
  const second = await digest(at, true);
  expect([first?.startsWith('sha256:'), first === second]).toEqual([true, false]);
});

test('files that nobody hides have the digest that earlier releases recorded', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'usual');
  cpSync(withSub, at, { recursive: true, verbatimSymlinks: true });
  const clean = cleanTreeDigest(git(at, 'rev-parse', 'HEAD^{tree}'), nodeHasher);
  for (const isEveryByteRead of [false, true]) expect(await digest(at, isEveryByteRead)).toBe(clean);
  all(put('a.txt'), put('more/x y.js'), put('more/z.js'), put('DATA/ignored.txt'), put('ü.txt'))(at);
  rmSync(join(at, 'src/b.txt'));
  const status = execFileSync('git', ['-C', at, 'status', '--porcelain=v2', '-z', '--untracked-files=all'], {
    encoding: 'utf8',
  });
  const files = ['a.txt', 'more/x y.js', 'more/z.js', 'ü.txt'].map((name) => git(at, 'hash-object', name));
  const tree = git(at, 'rev-parse', 'HEAD^{tree}');
  const recorded = nodeHasher.sha256(ownJsonBytes({ v: 1, tree, status, files }));
  expect(await digest(at, false)).toBe(recorded);
});

test('a stash changes nothing that a check or an answer is about, whatever git is set to show', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'stashed');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  const clean = await digest(at, false);
  all(put('a.txt'), set('status.showStash', 'true'), (to) => git(to, 'stash'))(at);
  expect([await digest(at, false), await digest(at, true)]).toEqual([clean, clean]);
});

test('files that git was told to leave out or not to watch count, also where nobody signs', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'sparse');
  cpSync(withSub, at, { recursive: true, verbatimSymlinks: true });
  const clean = await digest(at, false);
  // Git leaves out only files that it knows to be unchanged.
  git(at, 'update-index', '--refresh');
  git(at, 'sparse-checkout', 'set', '--no-cone', '/*', '!src');
  expect(existsSync(join(at, 'src'))).toBe(false);
  expect(await digest(at, false)).not.toBe(clean);
  git(at, 'sparse-checkout', 'disable');
  expect(await digest(at, false)).toBe(clean);
  put('a.txt')(join(at, 'sub'));
  expect(await digest(at, false)).not.toBe(clean);
});

test('where every file is a program, a setting may say that the file system has no modes', async () => {
  enforces('check_fresh_tree');
  const at = join(folder, 'modeless');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  const clean = await digest(at, false);
  for (const name of ['.gitignore', 'a.txt', 'src/b.txt', 'src/c.txt']) chmodSync(join(at, name), 0o755);
  expect(await digest(at, false)).not.toBe(clean);
  git(at, 'config', 'core.fileMode', 'false');
  expect(await digest(at, false)).toBe(clean);
  expect(await digest(at, true)).not.toBe(clean);
  chmodSync(join(at, 'a.txt'), 0o644);
  expect(await digest(at, false)).not.toBe(clean);
});

test('no other commit and no variable stands in for the base of a check', async () => {
  enforces('evidence_two_sided');
  const at = join(folder, 'replaced');
  cpSync(plain, at, { recursive: true, verbatimSymlinks: true });
  const sha = git(at, 'rev-parse', 'HEAD');
  put('a.txt')(at);
  commitAll(at);
  git(at, 'replace', sha, 'HEAD');
  process.env['GIT_OBJECT_DIRECTORY'] = join(folder, 'elsewhere');
  try {
    const base = { folder: at, sha, tests: ['src/b.txt'], link: [] };
    const found = await withBase(base, async (copy) => readFileSync(join(copy, 'a.txt'), 'utf8'));
    expect(found._unsafeUnwrap()).toBe('good\n');
  } finally {
    delete process.env['GIT_OBJECT_DIRECTORY'];
  }
});
