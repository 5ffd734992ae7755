import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { SourceServices } from '../../app/ports/workflow-sources.ts';
import { addSource, fetchAskedSources, listSources, removeSource, updateSources } from '../../app/sources.ts';
import { fileSourceList } from './file-source-list.ts';
import { copyFolder, gitCopies } from './git-copies.ts';
import { fileProjectSources } from './project-sources.ts';
import { nodeFolderAccess } from './read-folder.ts';
import { sourceInspector } from './source-folders.ts';
import { addedSources, projectSources, sourcePlaces, workflowFiles } from './workflow-files.ts';

const WORKFLOW = { id: 'team.hello', name: 'Hello', description: 'One step.', steps: [] };
const IDENTITY = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'protocol.file.allow=always'];

let place: string;
let own: string;
let services: SourceServices;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'workrail-sources-'));
  own = join(place, '.workrail');
  const { list, copies } = sourcePlaces(own);
  const resolvePath = (path: string) => resolve(place, path);
  services = {
    list: fileSourceList(list),
    copies: gitCopies(copies),
    inspector: sourceInspector(copies),
    resolvePath,
    project: {
      ...fileProjectSources({ folder: place, own: join(place, 'user', '.workrail'), nowMs: () => 7 }),
      resolvePath,
    },
  };
});

function git(repository: string, ...args: string[]): string {
  return execFileSync('git', ['-C', repository, ...IDENTITY, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** A repository with one workflow in `workflows/`, as somebody else may have made it. */
function repository(name = 'flows.git'): string {
  const dir = join(place, name);
  mkdirSync(join(dir, 'workflows'), { recursive: true });
  git(dir, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(dir, 'workflows', 'team.hello.json'), JSON.stringify(WORKFLOW));
  commit(dir, 'first');
  return dir;
}

function commit(dir: string, message: string): string {
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--allow-empty', '-m', message);
  return git(dir, 'rev-parse', 'HEAD');
}

async function listedFiles() {
  const fixed = { bundled: join(place, 'none'), user: join(place, 'nobody'), added: addedSources(own) };
  return (await workflowFiles(fixed, nodeFolderAccess).files()).files;
}

describe('a git source', () => {
  it('a git source stays at its pinned commit until it is updated', async () => {
    enforces('git_source_pinned');
    const dir = repository();
    const first = git(dir, 'rev-parse', 'HEAD');
    const added = (await addSource(services, { address: dir }))._unsafeUnwrap();
    expect(added.source).toEqual({ kind: 'git', name: 'flows', url: dir, commit: first, folder: 'workflows' });
    expect(await listedFiles()).toMatchObject([
      {
        kind: 'remote',
        ref: 'flows/team.hello.json',
        rank: expect.any(Number),
        added: { name: 'flows', kind: 'git', commit: first },
      },
    ]);

    writeFileSync(join(dir, 'workflows', 'team.more.json'), JSON.stringify({ ...WORKFLOW, id: 'team.more' }));
    const second = commit(dir, 'second');
    expect(await listedFiles()).toHaveLength(1);

    const updated = (await updateSources(services, { names: ['flows'], isForced: false }))._unsafeUnwrap();
    expect(updated).toEqual([{ name: 'flows', from: first, to: second }]);
    expect(await listedFiles()).toHaveLength(2);
    const { copies } = sourcePlaces(own);
    expect(existsSync(copyFolder(copies, { name: 'flows', commit: first }))).toBe(false);
  });

  it('a git source is not updated to a rewritten branch unless forced', async () => {
    enforces('git_source_pinned');
    const dir = repository();
    const first = commit(dir, 'second');
    await addSource(services, { address: dir, ref: 'main' });
    git(dir, 'reset', '--hard', '--quiet', 'HEAD~1');
    const other = commit(dir, 'another second');

    const refused = (await updateSources(services, { names: [], isForced: false }))._unsafeUnwrap();
    expect(refused).toMatchObject([
      { from: first, to: first, refusal: { code: 'git_rewritten', name: 'flows', to: other } },
    ]);
    expect(await listedFiles()).toHaveLength(1);
    const forced = (await updateSources(services, { names: [], isForced: true }))._unsafeUnwrap();
    expect(forced).toEqual([{ name: 'flows', from: first, to: other }]);
  });

  it('a git source runs no hook, follows no link and fetches no submodule', async () => {
    enforces('git_source_pinned');
    const hooks = join(place, 'hooks');
    mkdirSync(hooks);
    const trace = join(place, 'hook-ran');
    for (const hook of ['post-checkout', 'reference-transaction']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch '${trace}'\n`, { mode: 0o755 });
    }
    const config = join(place, 'gitconfig');
    writeFileSync(config, `[core]\n\thooksPath = ${hooks}\n[init]\n\ttemplateDir = ${place}\n`);
    const inner = repository('inner.git');
    const dir = repository();
    git(dir, 'submodule', '--quiet', 'add', inner, 'workflows/inner');
    symlinkSync('/etc', join(dir, 'workflows', 'etc'));
    commit(dir, 'with a submodule and a link');

    vi.stubEnv('GIT_CONFIG_GLOBAL', config);
    const added = await addSource(services, { address: dir });
    vi.unstubAllEnvs();
    const { source, health } = added._unsafeUnwrap();
    expect(existsSync(trace)).toBe(false);
    expect(health).toMatchObject({ kind: 'ready', files: 1 });
    const copy = copyFolder(sourcePlaces(own).copies, source as { name: string; commit: string });
    expect(readFileSync(join(copy, 'workflows', 'etc'), 'utf8')).toBe('/etc');
    expect(existsSync(join(copy, 'workflows', 'inner', 'workflows'))).toBe(false);
  });

  it('an address cannot pass options or programs to git', async () => {
    enforces('git_source_pinned');
    const trace = join(place, 'ran');
    const dir = repository();
    for (const request of [
      { address: `--upload-pack=touch ${trace}` },
      { address: `ext::sh -c touch% ${trace}` },
      { address: `user@-oProxyCommand=touch ${trace}:flows.git` },
      { address: dir, ref: `--upload-pack=touch ${trace}` },
      { address: dir, folder: '../..' },
      { address: dir, name: '../x' },
    ]) {
      expect((await addSource(services, request)).isErr(), JSON.stringify(request)).toBe(true);
    }
    expect([existsSync(trace), existsSync(own)]).toEqual([false, false]);
  });

  it('an edited, added or deleted file in the copy of a git source is reported and not used until it is fetched again', async () => {
    enforces('git_source_pinned');
    const dir = repository();
    writeFileSync(join(dir, 'workflows', 'team.more.json'), JSON.stringify({ ...WORKFLOW, id: 'team.more' }));
    commit(dir, 'second');
    const { source } = (await addSource(services, { address: dir }))._unsafeUnwrap();
    const flows = join(copyFolder(sourcePlaces(own).copies, source as { name: string; commit: string }), 'workflows');
    writeFileSync(join(flows, 'team.hello.json'), JSON.stringify({ ...WORKFLOW, name: 'Edited' }));
    writeFileSync(join(flows, 'team.own.json'), JSON.stringify({ ...WORKFLOW, id: 'team.own' }));
    rmSync(join(flows, 'team.more.json'));
    const edited = { kind: 'unread', reason: { code: 'copy_edited', source: 'flows' } };
    const names = ['team.hello', 'team.own', 'team.more'];
    expect(await listedFiles()).toMatchObject(names.map((name) => ({ ref: `flows/${name}.json`, content: edited })));
    expect((await listSources(services))._unsafeUnwrap()).toMatchObject([{ health: { files: 0, edited: 3 } }]);

    expect((await updateSources(services, { names: [], isForced: false }))._unsafeUnwrap()).toHaveLength(1);
    expect((await listedFiles()).map(({ ref, content }) => [ref, content.kind])).toEqual([
      ['flows/team.hello.json', 'text'],
      ['flows/team.more.json', 'text'],
    ]);
  });

  it('a copy that an earlier version fetched is compared with git before its files are used', async () => {
    const dir = repository();
    const { source } = (await addSource(services, { address: dir }))._unsafeUnwrap();
    const copy = copyFolder(sourcePlaces(own).copies, source as { name: string; commit: string });
    const record = join(copy, '.git', 'workrail-files.json');
    rmSync(record);
    expect(await listedFiles()).toMatchObject([{ content: { kind: 'text' } }]);
    expect(existsSync(record)).toBe(true);
    rmSync(record);
    writeFileSync(join(copy, 'workflows', 'team.hello.json'), '{}');
    expect(await listedFiles()).toMatchObject([{ content: { kind: 'unread', reason: { code: 'copy_edited' } } }]);
  });

  it('a git source that cannot be fetched or has no workflows is not added and leaves nothing behind', async () => {
    const dir = repository();
    const missing = (await addSource(services, { address: join(place, 'no.git') }))._unsafeUnwrapErr();
    expect(missing).toMatchObject({ code: 'git_failed', said: expect.stringContaining('does not') });
    const empty = (await addSource(services, { address: dir, folder: 'docs' }))._unsafeUnwrapErr();
    expect(empty).toMatchObject({ code: 'source_empty', health: { kind: 'missing' } });
    expect(empty).toMatchObject({ repository: { folder: 'docs', folders: ['workflows'] } });
    await addSource(services.project, { address: dir, folder: 'docs', isForProject: true });
    const { projectCopies } = sourcePlaces(join(place, 'user', '.workrail'));
    expect(readdirSync(projectCopies)).toEqual([]);
    expect((await services.list.read())._unsafeUnwrap()).toEqual([]);
    expect(
      existsSync(join(own, 'sources')) && execFileSync('ls', ['-A', join(own, 'sources')], { encoding: 'utf8' }),
    ).toBe('');
  });
});

describe('other sources', () => {
  it('a source can be a folder of the user or an installed package that declares one', async () => {
    const folder = join(place, 'mine');
    const pack = join(place, 'node_modules', '@acme', 'flows');
    for (const dir of [folder, join(pack, 'flows')]) {
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(dir, 'team.hello.json'), JSON.stringify(WORKFLOW));
    }
    const manifest = join(pack, 'package.json');
    writeFileSync(manifest, '{"name": "@acme/flows"}');
    expect((await addSource(services, { address: 'npm:@acme/flows' }))._unsafeUnwrapErr()).toMatchObject({
      code: 'source_empty',
      health: { kind: 'undeclared' },
    });
    writeFileSync(manifest, '{"name": "@acme/flows", "workrail": {"workflows": "./flows"}}');
    const refused = { code: 'setting_of_repositories', setting: 'ref', address: folder, kind: 'folder' };
    expect((await addSource(services, { address: folder, ref: 'main' }))._unsafeUnwrapErr()).toEqual(refused);
    await addSource(services, { address: folder });
    await addSource(services, { address: 'npm:@acme/flows' });
    expect((await listedFiles()).map(({ kind, ref, rank, added }) => [kind, ref, rank < 1, added])).toEqual([
      ['user', 'mine/team.hello.json', true, { name: 'mine', kind: 'folder' }],
      ['plugin', 'flows/team.hello.json', true, { name: 'flows', kind: 'package' }],
    ]);
    expect((await removeSource(services, 'mine'))._unsafeUnwrap()).toMatchObject({ name: 'mine' });
    expect(existsSync(folder)).toBe(true);
    expect((await listSources(services))._unsafeUnwrap()).toMatchObject([{ source: { name: 'flows' } }]);
    expect((await removeSource(services, 'flow'))._unsafeUnwrapErr()).toEqual({
      code: 'source_unknown',
      name: 'flow',
      known: ['flows'],
    });
  });

  it('a folder that is a repository comes with the address that pins it to a commit', async () => {
    repository('my flows');
    const added = (await addSource(services, { address: './my flows' }))._unsafeUnwrap();
    expect(added).toMatchObject({
      source: { kind: 'folder' },
      asRepository: expect.stringMatching(/^file:\/\/\/.*%20/),
    });
    const { asRepository: address = '' } = added;
    const pinned = (await addSource(services, { address, name: 'pinned' }))._unsafeUnwrap();
    expect([pinned.source.kind, pinned.health]).toMatchObject(['git', { kind: 'ready', files: 1 }]);
    mkdirSync(join(place, 'plain'));
    writeFileSync(join(place, 'plain', 'team.hello.json'), JSON.stringify(WORKFLOW));
    expect((await addSource(services, { address: 'plain' }))._unsafeUnwrap().asRepository).toBeUndefined();
  });

  it('a source lists only workflows inside it; links to other places do not count', async () => {
    const folder = join(place, 'etc');
    const pack = join(place, 'node_modules', 'flows');
    for (const dir of [folder, pack]) mkdirSync(dir, { recursive: true });
    writeFileSync(join(folder, 'settings.json'), '{"level": 3}');
    symlinkSync('/etc/hostname', join(folder, 'hostname'));
    symlinkSync('/etc', join(folder, 'flows.json'));
    writeFileSync(join(pack, 'package.json'), '{"workrail": {"workflows": "../../etc"}}');
    expect((await addSource(services, { address: folder }))._unsafeUnwrapErr()).toEqual({
      code: 'source_empty',
      health: { kind: 'ready', files: 0, dir: folder },
    });
    expect((await addSource(services, { address: 'npm:flows' }))._unsafeUnwrapErr()).toEqual({
      code: 'source_empty',
      health: { kind: 'outside', dir: folder, target: realpathSync(folder) },
    });
    writeFileSync(join(folder, 'team.hello.json'), JSON.stringify(WORKFLOW));
    expect((await addSource(services, { address: folder }))._unsafeUnwrap().health).toMatchObject({ files: 1 });
  });

  it('a home folder that is a file has no sources, and none can be added', async () => {
    own = join(place, 'file', '.workrail');
    writeFileSync(join(place, 'file'), '');
    const { list, copies } = sourcePlaces(own);
    expect(await listedFiles()).toEqual([]);
    const there = { ...services, list: fileSourceList(list), copies: gitCopies(copies) };
    const refused = { code: 'source_list_unwritable', cause: 'ENOTDIR' };
    const [folder, address] = [join(place, 'flows'), repository()];
    mkdirSync(folder);
    writeFileSync(join(folder, 'team.hello.json'), JSON.stringify(WORKFLOW));
    expect((await addSource(there, { address: folder }))._unsafeUnwrapErr()).toEqual({ ...refused, file: list });
    expect((await addSource(there, { address }))._unsafeUnwrapErr()).toEqual({ ...refused, file: copies });
  });

  it('unreadable sources are shown in the list of workflows', async () => {
    const { list } = sourcePlaces(own);
    const dir = repository();
    await addSource(services, { address: dir });
    await services.copies.drop({ name: 'flows' });
    expect(await listedFiles()).toMatchObject([{ ref: 'flows/', content: { kind: 'unread' } }]);
    writeFileSync(list, '{"v": 1, "sources": [{"kind": "git"}]}');
    expect(await listedFiles()).toMatchObject([{ ref: 'sources.json', content: { kind: 'unread' } }]);
    expect((await services.list.read())._unsafeUnwrapErr()).toEqual({
      code: 'source_list_broken',
      file: list,
      cause: ['name', 'url', 'commit', 'folder']
        .map((key) => `sources[0].${key}: it is missing and must be text`)
        .join('; '),
    });
    writeFileSync(list, '{');
    expect((await services.list.read())._unsafeUnwrapErr()).toMatchObject({ cause: 'not valid JSON' });
  });
});

describe('sources that a project asks for', () => {
  const listedIn = async (workspace: string) => {
    const user = join(place, 'user', '.workrail');
    const fixed = { bundled: join(place, 'none'), user: join(place, 'nobody'), asked: projectSources(user) };
    const { files } = await workflowFiles(fixed, nodeFolderAccess).files(workspace);
    return files.map(({ ref, kind, rank, content, added }) => ({
      ref,
      kind,
      rank,
      ...(added === undefined ? {} : { commit: added.commit }),
      ...(content.kind === 'unread' ? { reason: content.reason.code } : {}),
    }));
  };

  it("a project's source is used only at the commit that a person accepted, in that folder", async () => {
    enforces('project_sources_need_a_person');
    const dir = repository();
    const first = git(dir, 'rev-parse', 'HEAD');
    const { project } = services;
    await addSource(project, { address: dir, isForProject: true });
    expect(JSON.parse(readFileSync(join(place, '.workrail/sources.json'), 'utf8'))).toEqual({
      v: 1,
      sources: [{ kind: 'git', name: 'flows', url: dir, commit: first, folder: 'workflows' }],
    });
    const waiting = { ref: 'flows/', kind: 'remote', rank: 1.5, reason: 'not_accepted' };
    expect(await listedIn(place)).toEqual([waiting]);

    const asked = (await fetchAskedSources(project))._unsafeUnwrap();
    expect(asked).toMatchObject([{ isAccepted: false, files: ['flows/team.hello.json'] }]);
    await project.accept(asked.map(({ source }) => source));
    const used = { ref: 'flows/team.hello.json', kind: 'remote', rank: 1.5, commit: first };
    expect(await listedIn(place)).toEqual([used]);

    // Another folder with the same file has to ask for itself.
    const clone = join(place, 'clone');
    mkdirSync(join(clone, '.workrail'), { recursive: true });
    const list = join(place, '.workrail/sources.json');
    writeFileSync(join(clone, '.workrail/sources.json'), readFileSync(list));
    expect(await listedIn(clone)).toEqual([waiting]);

    writeFileSync(join(dir, 'workflows', 'team.more.json'), JSON.stringify({ ...WORKFLOW, id: 'team.more' }));
    const second = commit(dir, 'second');
    const planned = (await updateSources(project, { names: [], isForced: false, isDry: true }))._unsafeUnwrap();
    expect(planned).toMatchObject([{ to: second, changes: [{ kind: 'added', file: 'flows/team.more.json' }] }]);
    expect(await listedIn(place)).toEqual([used]);
    (await updateSources(project, { names: [], isForced: false }))._unsafeUnwrap();
    expect(await listedIn(place)).toEqual([waiting]);
    await project.accept((await fetchAskedSources(project))._unsafeUnwrap().map(({ source }) => source));
    expect((await listedIn(place)).map(({ ref }) => ref)).toEqual(['flows/team.hello.json', 'flows/team.more.json']);
    // Only the newest acceptance of a name counts: the older commit asks again.
    writeFileSync(list, readFileSync(list, 'utf8').replace(second, first));
    expect(await listedIn(place)).toEqual([waiting]);
  });

  it('a project can ask only for repositories at a commit that exists, in a file that stays inside it', async () => {
    enforces('project_sources_need_a_person');
    const dir = repository();
    const { project } = services;
    expect((await addSource(project, { address: place, isForProject: true }))._unsafeUnwrapErr()).toMatchObject({
      code: 'only_repositories',
    });
    const put = (text: string) => {
      mkdirSync(join(place, '.workrail'), { recursive: true });
      writeFileSync(join(place, '.workrail/sources.json'), text);
    };
    const source = { kind: 'git', name: 'flows', url: dir, commit: 'a'.repeat(40), folder: 'workflows' };
    put(JSON.stringify({ v: 1, sources: [source] }));
    expect((await fetchAskedSources(project))._unsafeUnwrapErr()).toEqual({
      code: 'git_commit_missing',
      url: dir,
      commit: 'a'.repeat(40),
    });
    for (const text of [
      '{',
      '{"v": 1}',
      JSON.stringify({ v: 1, sources: [{ kind: 'folder', name: 'x', path: '/' }] }),
      // A person who reads the file may see the address that does not count.
      JSON.stringify({ v: 1, sources: [source] }).replace('"url"', '"url":"https://example.org/good.git","url"'),
    ]) {
      put(text);
      expect((await project.list.read())._unsafeUnwrapErr()).toMatchObject({ code: 'source_list_broken' });
      expect(await listedIn(place)).toMatchObject([{ ref: '.workrail/sources.json', reason: 'io_failed' }]);
    }
    rmSync(join(place, '.workrail'), { recursive: true });
    const elsewhere = mkdtempSync(join(tmpdir(), 'workrail-elsewhere-'));
    writeFileSync(join(elsewhere, 'sources.json'), JSON.stringify({ v: 1, sources: [source] }));
    symlinkSync(elsewhere, join(place, '.workrail'));
    expect((await project.list.read())._unsafeUnwrapErr()).toMatchObject({ cause: 'leads outside' });
    expect((await project.list.write([]))._unsafeUnwrapErr()).toMatchObject({ code: 'source_list_unwritable' });
    rmSync(join(place, '.workrail'));
    writeFileSync(join(place, '.workrail'), '');
    expect((await project.list.write([]))._unsafeUnwrapErr()).toMatchObject({ cause: 'EEXIST' });
  });

  it("the user's own list is not read as that of a project in the home folder", async () => {
    const user = join(place, 'user');
    mkdirSync(join(user, '.workrail'), { recursive: true });
    writeFileSync(join(user, '.workrail/sources.json'), '{"v": 1, "sources": [{"kind": "git"}]}');
    expect(await listedIn(user)).toEqual([]);
  });
});
