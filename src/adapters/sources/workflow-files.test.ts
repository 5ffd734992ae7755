import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { err } from 'neverthrow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listeningTools } from '../../../test/catalog/catalog-of.ts';
import { FIXTURES } from '../../../test/compiler/compile-file.ts';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { workflowCatalog } from '../../app/catalog/workflow-catalog.ts';
import type { WorkflowFile } from '../../app/ports/workflow-sources.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { WORKFLOW_FILE_BYTES_MAX } from '../../core/workflow/source/parse-source.ts';
import { type FolderAccess, nodeFolderAccess } from './read-folder.ts';
import { workflowFiles } from './workflow-files.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workrail-sources-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text = '{}'): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

function link(from: string, to: string): void {
  mkdirSync(dirname(join(root, from)), { recursive: true });
  symlinkSync(join(root, to), join(root, from));
}

function source(access: FolderAccess = nodeFolderAccess) {
  return workflowFiles({ bundled: join(root, 'bundle'), user: join(root, 'home/.workrail/workflows') }, access);
}

async function listed(): Promise<readonly WorkflowFile[]> {
  return (await source().files(join(root, 'repo'))).files;
}

function reasons(files: readonly WorkflowFile[]): readonly unknown[] {
  return files.map(({ ref, content }) => [ref, content.kind === 'unread' ? content.reason : content.text]);
}

describe('workflow files', () => {
  it('workflow files come from the bundle, the user and two project folders, in rising rank', async () => {
    enforces('source_precedence');
    write('repo/workflows/d.json', '4');
    write('repo/.workrail/workflows/c.json', '3');
    write('home/.workrail/workflows/b.json', '2');
    write('bundle/a.json', '1');
    expect(await listed()).toEqual([
      file('bundled', 0, 'a.json', { path: 'bundle/a.json', text: '1' }),
      file('user', 1, 'b.json', { path: 'home/.workrail/workflows/b.json', text: '2' }),
      file('project', 2, '.workrail/workflows/c.json', { path: 'repo/.workrail/workflows/c.json', text: '3' }),
      file('project', 3, 'workflows/d.json', { path: 'repo/workflows/d.json', text: '4' }),
    ]);
    expect((await source().files()).files.map(({ ref }) => ref)).toEqual(['a.json', 'b.json']);
  });

  it('workflow files may be at any depth, routines are marked, and other files are skipped', async () => {
    enforces('routine_by_folder_or_name');
    write('bundle/routines/deep/one.json');
    write('bundle/more/routines/two.json');
    write('bundle/routines-old/three.json');
    write('bundle/routines.json');
    write('bundle/readme.md');
    write('bundle/routines.test.json');
    write('bundle/.git/four.json');
    write('bundle/node_modules/x/five.json');
    expect((await listed()).map(({ ref, isInRoutines }) => [ref, isInRoutines])).toEqual([
      ['more/routines/two.json', true],
      ['routines/deep/one.json', true],
      ['routines-old/three.json', false],
      ['routines.json', false],
    ]);
  });

  it('the same files give the same workflows with the same hashes, whatever the folders above them are called', async () => {
    enforces('workflow_hash_machine_independent');
    const hashesIn = async (workspace: string) => {
      for (const { name, text } of FIXTURES) write(`${workspace}/.workrail/workflows/${name}`, text);
      const { workflows, invalid } = await workflowCatalog(source(), listeningTools()).list(join(root, workspace));
      return {
        invalid: invalid.map(({ file, diagnostics }) => [file.ref, diagnostics]),
        workflows: workflows.map(({ id, kind, workflow }) => [id, kind, sealWorkflow(workflow, sha256).hash]),
      };
    };
    const here = await hashesIn('home/ann/shop');
    expect(here.workflows.length).toBeGreaterThan(FIXTURES.length / 2);
    expect(await hashesIn('srv/routines/wr.team/Läden und mehr')).toEqual(here);
  });

  it('unchanged workflow files are not read again and are the same objects', async () => {
    enforces('budget_list_start_cpu');
    for (let i = 0; i < 50; i++) write(`repo/workflows/w${i}.json`, `${i}`);
    write('repo/.workrail/bindings.json', '{"build":"make"}');
    let reads = 0;
    const counting: FolderAccess = {
      ...nodeFolderAccess,
      read: (path) => {
        reads += 1;
        return nodeFolderAccess.read(path);
      },
    };
    const { files } = source(counting);
    const workspace = join(root, 'repo');
    const cold = await files(workspace);
    expect([cold.files.length, reads]).toEqual([50, 51]);
    const warm = await files(workspace);
    expect(reads).toBe(51);
    expect(warm.files.every((one, i) => one === cold.files[i]) && warm.bindings === cold.bindings).toBe(true);

    write('repo/workflows/w7.json', 'longer');
    utimesSync(write('repo/workflows/w8.json', 'x'), 1, 1);
    rmSync(join(root, 'repo/workflows/w9.json'));
    const changed = await files(workspace);
    expect(reads).toBe(53);
    expect(changed.files.filter((one) => !cold.files.includes(one)).map(({ content }) => content)).toEqual([
      { kind: 'text', text: 'longer' },
      { kind: 'text', text: 'x' },
    ]);
    expect(changed.files).toHaveLength(49);
  });

  it('linked workflow files are read only inside their folder', async () => {
    write('secret/key.json', 'secret');
    write('repo/workflows/real.json', 'real');
    link('repo/workflows/inside.json', 'repo/workflows/real.json');
    link('repo/workflows/outside.json', 'secret/key.json');
    link('repo/workflows/all', 'secret');
    link('repo/workflows/loop', 'repo/workflows');
    link('repo/workflows/nowhere.json', 'absent');
    expect(reasons(await listed())).toEqual([
      ['workflows/all', { code: 'leads_outside', target: join(root, 'secret') }],
      ['workflows/inside.json', 'real'],
      ['workflows/nowhere.json', { code: 'not_a_file' }],
      ['workflows/outside.json', { code: 'leads_outside', target: join(root, 'secret/key.json') }],
      ['workflows/real.json', 'real'],
    ]);
  });

  it("a project folder that links outside is not read; a user's own folder may", async () => {
    write('elsewhere/a.json', 'a');
    write('elsewhere/bindings.json', '{}');
    link('repo/workflows', 'elsewhere');
    link('repo/.workrail', 'elsewhere');
    link('home/.workrail/workflows', 'elsewhere');
    const listing = await source().files(join(root, 'repo'));
    expect(reasons(listing.files)).toEqual([
      ['a.json', 'a'],
      ['bindings.json', '{}'],
    ]);
    expect(listing.bindings?.content).toEqual({
      kind: 'unread',
      reason: { code: 'leads_outside', target: join(root, 'elsewhere/bindings.json') },
    });
    rmSync(join(root, 'home'), { recursive: true });
    expect(reasons((await source().files(join(root, 'repo'))).files)).toEqual([
      ['workflows/', { code: 'leads_outside', target: join(root, 'elsewhere') }],
    ]);
  });

  it('unreadable workflow files are listed with the reason', async () => {
    enforces('workflow_file_1mb', 'invalid_file_is_listed');
    truncateSync(write('bundle/exact.json', '1'), WORKFLOW_FILE_BYTES_MAX);
    truncateSync(write('bundle/large.json', '1'), WORKFLOW_FILE_BYTES_MAX + 1);
    writeFileSync(write('bundle/latin.json'), Uint8Array.of(0xe9));
    const opened: string[] = [];
    const failing: FolderAccess = {
      ...nodeFolderAccess,
      read: (path) => {
        opened.push(path);
        return nodeFolderAccess.read(path);
      },
    };
    const { files } = await source(failing).files();
    expect(reasons(files).slice(1)).toEqual([
      ['large.json', { code: 'too_large', bytes: WORKFLOW_FILE_BYTES_MAX + 1, bytesMax: WORKFLOW_FILE_BYTES_MAX }],
      ['latin.json', { code: 'not_utf8' }],
    ]);
    expect(files[0]?.content.kind).toBe('text');
    expect(opened).not.toContain(join(root, 'bundle/large.json'));
  });

  it('workflow files without permission are listed with the reason', async () => {
    write('bundle/closed.json');
    write('bundle/shut/a.json');
    const denied = err({ code: 'io_failed', cause: 'EACCES' } as const);
    const { files } = await source({
      ...nodeFolderAccess,
      list: (path) => (path.endsWith('shut') ? denied : nodeFolderAccess.list(path)),
      read: () => denied,
    }).files();
    expect(reasons(files)).toEqual([
      ['closed.json', { code: 'io_failed', cause: 'EACCES' }],
      ['shut', { code: 'io_failed', cause: 'EACCES' }],
    ]);
  });

  it('an invalid workspace is not searched, and that is reported', async () => {
    write('bundle/a.json', '1');
    const file = write('repo/workflows/b.json', '2');
    const looked = async (workspace: string) => {
      const { files, workspaceProblem } = await source().files(workspace);
      return [files.map(({ ref }) => ref), workspaceProblem];
    };
    expect(await looked(join(root, 'repo'))).toEqual([['a.json', 'workflows/b.json'], undefined]);
    for (const path of ['repo', './repo', '~/repo', '']) {
      expect(await looked(path)).toEqual([['a.json'], { path, reason: { code: 'not_absolute' } }]);
    }
    const absent = join(root, 'nowhere');
    expect(await looked(absent)).toEqual([['a.json'], { path: absent, reason: { code: 'not_there' } }]);
    expect(await looked(file)).toEqual([['a.json'], { path: file, reason: { code: 'not_a_folder' } }]);
    link('linked', 'repo');
    expect(await looked(join(root, 'linked'))).toEqual([['a.json', 'workflows/b.json'], undefined]);
    const denied = err({ code: 'io_failed', cause: 'EACCES' } as const);
    const shut = source({ ...nodeFolderAccess, resolve: () => denied });
    expect((await shut.files('/shut')).workspaceProblem).toEqual({ path: '/shut', reason: denied.error });
  });

  it('workflow files are not listed twice when one folder is another', async () => {
    write('repo/.workrail/workflows/a.json');
    const { files } = workflowFiles(
      { bundled: join(root, 'bundle'), user: join(root, 'repo/.workrail/workflows') },
      nodeFolderAccess,
    );
    expect((await files(join(root, 'repo'))).files.map(({ kind, ref }) => [kind, ref])).toEqual([['user', 'a.json']]);
  });

  it('files beyond a thousand in one folder are not used, and that is reported', async () => {
    for (let i = 0; i < 1002; i++) write(`repo/workflows/${String(i).padStart(4, '0')}.json`);
    const files = await listed();
    expect(files).toHaveLength(1001);
    expect(reasons(files).at(-1)).toEqual(['workflows/', { code: 'too_many_files', filesMax: 1000 }]);
  });

  function file(
    kind: WorkflowFile['kind'],
    rank: number,
    ...[ref, { path, text }]: readonly [string, { readonly path: string; readonly text: string }]
  ): WorkflowFile {
    return { kind, rank, ref, path: join(root, path), isInRoutines: false, content: { kind: 'text', text } };
  }
});
