import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { compiledLibrary } from '../../../scripts/library.ts';
import { listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { BUNDLED, compiled, compileText } from '../../../test/compiler/compile-file.ts';
import { enforces } from '../../../test/enforces.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { share } from '../../../test/volume.ts';
import type { ListedWorkflow } from '../../app/catalog/catalog.ts';
import { workflowCatalog } from '../../app/catalog/workflow-catalog.ts';
import type { SourceFile, WorkflowFile } from '../../app/ports/workflow-sources.ts';
import { startWorkflow } from '../../app/run/start-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { libraryBytes, nodeCompiledFiles } from './compiled-files.ts';

const COMPILER = 'this one';
const folder = mkdtempSync(join(tmpdir(), 'workrail-compiled-'));
const library = join(folder, 'library.jsonl');
const FILES: readonly WorkflowFile[] = BUNDLED.map(({ name, text }) => bundledFile(name, text));

beforeAll(async () => {
  writeFileSync(library, libraryBytes(await compiledLibrary('workflows'), COMPILER));
});

function bundledFile(name: string, text: string): WorkflowFile {
  const isInRoutines = name.startsWith('wr.routine-');
  const ref = isInRoutines ? `routines/${name}` : name;
  return { kind: 'bundled', ref, path: `/bundle/${ref}`, rank: 0, isInRoutines, content: { kind: 'text', text } };
}

/** A catalog as in a new process, with a record of what it compiles. */
function newProcess(files: readonly WorkflowFile[], options: { bindings?: SourceFile; dataDir?: string } = {}) {
  const { bindings, dataDir } = options;
  const tools = listeningTools();
  const compiledFiles = nodeCompiledFiles({ compiler: COMPILER, library, ...(dataDir && { dataDir }) });
  const listing = { files, ...(bindings && { bindings }) };
  const catalog = workflowCatalog({ files: async () => listing }, { ...tools, compiledFiles });
  return { ...catalog, compiledIds: () => tools.inputs.map(({ text }) => JSON.parse(text).id as string).sort() };
}

function fresh(files: readonly WorkflowFile[], bindings?: SourceFile) {
  const listing = { files, ...(bindings && { bindings }) };
  return workflowCatalog({ files: async () => listing }, listeningTools());
}

/** Everything about a workflow that anybody sees, in the form in which it is stored. */
function seen({ stored: _, sourceHash, workflow, ...listed }: ListedWorkflow) {
  return {
    ...listed,
    sourceHash: sourceHash(),
    workflow: Buffer.from(sealWorkflow(workflow, sha256).bytes).toString(),
  };
}

function bindingsOf(slots: object): SourceFile {
  return { ref: 'b', path: '/b', content: { kind: 'text', text: JSON.stringify(slots) } };
}

describe('the compiled library', () => {
  it('the compiled library is byte for byte what compiling each file gives', async () => {
    enforces('library_is_compiled');
    const made = await compiledLibrary('workflows');
    expect(made.map(({ file }) => file.id).sort()).toEqual(BUNDLED.map(({ text }) => JSON.parse(text).id).sort());
    for (const { text } of BUNDLED) {
      const { hash, bytes } = sealWorkflow(compiled(compileText(text, { isBundled: true })), sha256);
      const one = made.find(({ file }) => file.id === JSON.parse(text).id);
      expect(one?.file.workflowHash).toBe(hash);
      expect(Buffer.compare(one?.bytes ?? Buffer.of(), bytes)).toBe(0);
    }
  });

  it('the compiled library gives the same catalog as compiling, and nothing is compiled', async () => {
    enforces('library_is_compiled');
    const { list, find, compiledIds } = newProcess(FILES);
    const [known, expected] = [await list('/repo'), await fresh(FILES).list('/repo')];
    expect(known.workflows.map(seen)).toEqual(expected.workflows.map(seen));
    expect(known.workflows.every(({ stored, workflow }) => stored?.hash === sealWorkflow(workflow, sha256).hash)).toBe(
      true,
    );
    expect((await find('wr.coding_task', '/repo')).found.kind).toBe('found');
    expect(compiledIds()).toEqual([]);
  });

  it('the first reply of a run does not depend on where its workflow was compiled', async () => {
    const ids = FILES.map(({ content }) => JSON.parse(content.kind === 'text' ? content.text : '').id as string);
    for (const workflowId of share(ids, { every: 4, from: 0 })) {
      const replies = await Promise.all(
        [newProcess(FILES), fresh(FILES)].map(async (catalog) => {
          const ids = { session: () => 'sess_06gy7jf4q3q5gewb', run: () => 'run_xtytwx3m4fqkt8az' } as never;
          const services = { ...memoryServices(), catalog, ids };
          const given = (await startWorkflow(services, { workflowId, goal: 'g' }))._unsafeUnwrap();
          return [given.text, JSON.stringify(given.structured)].map((said) =>
            said.replaceAll(/(st|ack|chk)_\w+/g, '$1'),
          );
        }),
      );
      expect(replies[0]).toEqual(replies[1]);
    }
  });

  it('an edited bundled file is compiled again, and so is everything that calls an edited routine', async () => {
    enforces('library_is_compiled');
    const edited = (id: string, change: (text: string) => string) =>
      FILES.map((file) =>
        file.content.kind === 'text' && file.ref.endsWith(`${id}.json`)
          ? { ...file, content: { kind: 'text' as const, text: change(file.content.text) } }
          : file,
      );
    const renamed = edited('wr.research', (text) => text.replace('"name": "', '"name": "Another '));
    const one = newProcess(renamed);
    expect((await one.list('/repo')).workflows.map(seen)).toEqual(
      (await fresh(renamed).list('/repo')).workflows.map(seen),
    );
    expect(one.compiledIds()).toEqual(['wr.research']);

    const routine = edited('wr.routine-plan-audit', (text) => text.replace('"title": "', '"title": "Now: '));
    const all = await fresh(routine).list('/repo');
    const callers = all.workflows.filter(({ origin }) => origin.routines.has('wr.templates.routine.plan-audit'));
    expect(callers.map(({ id }) => id)).toContain('wr.coding_task');
    const two = newProcess(routine);
    expect((await two.list('/repo')).workflows.map(seen)).toEqual(all.workflows.map(seen));
    expect(two.compiledIds()).toEqual([...callers.map(({ id }) => id), 'wr.routine-plan-audit'].sort());
  });

  it.each([
    ['binds one of its slots', { checks: 'npm test' }, true],
    ['binds another slot', { elsewhere: 'npm test' }, false],
    ['has the words of one of its commands', { elsewhere: 'testCommand' }, true],
  ])('a workspace that %s: is the workflow compiled again?', async (_, slots, isCompiled) => {
    enforces('library_is_compiled');
    const bindings = bindingsOf(slots);
    const { find, compiledIds } = newProcess(FILES, { bindings });
    const [known, expected] = await Promise.all(
      [find, fresh(FILES, bindings).find].map(async (by) => (await by('wr.coding_task', '/repo')).found),
    );
    if (known?.kind !== 'found' || expected?.kind !== 'found') expect.fail('both find it');
    expect(seen(known.listed)).toEqual(seen(expected.listed));
    expect(compiledIds().includes('wr.coding_task')).toBe(isCompiled);
  });

  it.each([
    ['missing', () => undefined],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['not a library', () => Buffer.from('{}')],
    ['of another compiler', (bytes: Buffer) => Buffer.from(bytes.toString().replace(COMPILER, 'that one'))],
  ])('a library that is %s is not used', (_, change) => {
    const damaged = join(mkdtempSync(join(folder, 'damaged-')), 'library.jsonl');
    const place = { isBundled: true, isInRoutines: false };
    const bytes = change(readFileSync(library));
    if (bytes !== undefined) writeFileSync(damaged, bytes);
    const [{ digest }] = [nodeCompiledFiles({ compiler: COMPILER })];
    const key = digest(BUNDLED[0]?.text ?? '');
    expect(nodeCompiledFiles({ compiler: COMPILER, library }).find(key, place)).toBeDefined();
    expect(nodeCompiledFiles({ compiler: COMPILER, library: damaged }).find(key, place)).toBeUndefined();
    expect(
      nodeCompiledFiles({ compiler: COMPILER, library }).find(key, { ...place, isBundled: false }),
    ).toBeUndefined();
  });
});

describe('files of users and projects', () => {
  const step = { id: 'call', type: 'template_call', templateId: 'team.templates.routine.look', args: {} };
  const routine = ownFile('routines/look.json', workflowText('team.routine-look'));
  const caller = ownFile('x.json', workflowText('team.x', { steps: [step], tagz: [] }));
  const broken = ownFile('broken.json', workflowText('team.broken', { steps: 1 }));
  const own = [routine, caller, broken];

  function ownFile(ref: string, text: string): WorkflowFile {
    const isInRoutines = ref.startsWith('routines/');
    return { kind: 'project', ref, path: `/p/${ref}`, rank: 2, isInRoutines, content: { kind: 'text', text } };
  }

  /** Lists in a new process, and waits until everything was kept. */
  async function listed(files: readonly WorkflowFile[], dataDir: string, compiler = COMPILER) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
    const tools = listeningTools();
    const compiledFiles = nodeCompiledFiles({ compiler, dataDir });
    const { workflows, invalid } = await workflowCatalog(
      { files: async () => ({ files }) },
      { ...tools, compiledFiles },
    ).list('/repo');
    vi.runAllTimers();
    vi.useRealTimers();
    return {
      ids: tools.inputs.map(({ text }) => JSON.parse(text).id as string).sort(),
      seen: workflows.map(seen),
      invalid,
    };
  }

  it('a file is compiled once, and then known in every process, until it or its routine changes', async () => {
    enforces('cache_is_never_truth', 'compiled_files_are_kept');
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const first = await listed(own, dataDir);
    expect(first.ids).toEqual(['team.broken', 'team.routine-look', 'team.x']);
    // A file with errors is compiled each time: its errors may name other files.
    expect(await listed(own, dataDir)).toEqual({ ...first, ids: ['team.broken'] });
    expect(await listed(own, dataDir, 'another compiler')).toEqual(first);
    const edited = ownFile(routine.ref, workflowText('team.routine-look', { tags: ['edited'] }));
    expect((await listed([edited, caller, broken], dataDir)).ids).toEqual(first.ids);
    // One of each is kept, and that is now the one with the edited routine.
    expect((await listed(own, dataDir)).ids).toEqual(['team.broken', 'team.x']);
  });

  it('what was kept may be deleted, damaged or exchanged at any time: the answers are the same', async () => {
    enforces('cache_is_never_truth', 'compiled_files_are_kept');
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const first = await listed(own, dataDir);
    const kept = join(dataDir, 'cache', 'workflows');
    const paths = readdirSync(kept).map((name) => join(kept, name));
    expect(paths).toHaveLength(2);
    const [one, other] = paths.map((path) => readFileSync(path)) as [Buffer, Buffer];
    const flipped = Buffer.from(one.map((byte, i) => (i === one.length - 5 ? byte ^ 1 : byte)));
    for (const bytes of [undefined, Buffer.of(), other, one.subarray(0, 40), flipped]) {
      if (bytes === undefined) rmSync(kept, { recursive: true });
      else writeFileSync(paths[0] ?? '', bytes);
      const { ids, ...answers } = await listed(own, dataDir);
      expect(answers).toEqual({ seen: first.seen, invalid: first.invalid });
      expect(ids.length).toBeGreaterThan(1);
    }
  });

  it('nothing is kept before there is a data directory, where a slot is bound, or where it cannot be written', async () => {
    enforces('compiled_files_are_kept', 'startup_has_no_side_effects');
    const dataDir = join(folder, 'nothing-here');
    await listed(own, dataDir);
    expect(readdirSync(folder)).not.toContain('nothing-here');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'cache'), 'in the way');
    expect((await listed(own, dataDir)).ids).toHaveLength(3);
  });
});
