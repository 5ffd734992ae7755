import { describe, expect, it } from 'vitest';
import { catalogOf, fileOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import type { SourceListing, WorkflowSource } from '../ports/workflow-sources.ts';
import { type Catalog, findWorkflow } from './catalog.ts';
import { workflowCatalog } from './workflow-catalog.ts';

function ids({ workflows }: Catalog): readonly string[] {
  return workflows.map(({ id }) => id);
}

describe('the catalog', () => {
  it('the catalog lists what a user needs to choose a workflow', async () => {
    const text = workflowText('team.review', { tags: ['quality'], extensionPoints: [] });
    const file = fileWith(text, { ref: 'review.json' });
    expect(await catalogOf([file])).toEqual({
      workflows: [
        {
          id: 'team.review',
          kind: 'workflow',
          name: 'Name of team.review',
          description: 'What it does.',
          tags: ['quality'],
          capabilities: [],
          idStatus: 'namespaced',
          aliases: [],
          sourceKind: 'project',
          file,
          shadows: [],
          warnings: [],
          workflow: expect.objectContaining({ schemaVersion: 1, workflowId: 'team.review' }),
          origin: { text, routines: new Map(), slotIds: [], bindings: {} },
          sourceHash: expect.any(Function),
        },
      ],
      invalid: [],
    });
  });

  it('the catalog is sorted by namespace, then workflows before routines, then by id', async () => {
    enforces('list_order');
    const files = ['zeta', 'wr.b', 'wr.routine-a', 'wr.c', 'app.z', 'app.routine-b', 'alpha'].map((id, i) =>
      fileWith(workflowText(id), { kind: 'bundled', ref: `${i}.json` }),
    );
    const sorted = ['alpha', 'zeta', 'app.z', 'app.routine-b', 'wr.b', 'wr.c', 'wr.routine-a'];
    expect(ids(await catalogOf(files))).toEqual(sorted);
    expect(ids(await catalogOf(files.toReversed()))).toEqual(sorted);
  });

  it('the catalog uses the file of the highest rank for an id and lists what it overrides', async () => {
    enforces('source_precedence', 'shadowing_reported');
    const [low, middle, high] = [
      fileWith(workflowText('team.review'), { kind: 'bundled' }),
      fileWith(workflowText('team.review'), { kind: 'user' }),
      fileWith(workflowText('team.review'), { kind: 'project' }),
    ];
    const { workflows, invalid } = await catalogOf([low, middle, high]);
    expect(workflows.map(({ file, shadows }) => [file, shadows])).toEqual([[high, [middle, low]]]);
    expect(invalid).toEqual([]);
  });

  it('the catalog does not fall back to an overridden workflow when the chosen one is broken', async () => {
    const [whole, broken] = [
      fileWith(workflowText('team.review'), { kind: 'user' }),
      fileWith(workflowText('team.review', { steps: 1 }), { kind: 'project' }),
    ];
    const catalog = await catalogOf([whole, broken]);
    expect(ids(catalog)).toEqual([]);
    expect(catalog.invalid.map(({ file, shadows }) => [file, shadows])).toEqual([[broken, [whole]]]);
    expect(findWorkflow(catalog, 'team.review')).toEqual({ kind: 'invalid', invalid: catalog.invalid[0] });
  });

  it('the catalog lists a broken file even if another overrides it', async () => {
    enforces('invalid_file_is_listed');
    const broken = fileWith(workflowText('team.review', { steps: 1 }), { kind: 'user' });
    const catalog = await catalogOf([broken, fileWith(workflowText('team.review'))]);
    expect(ids(catalog)).toEqual(['team.review']);
    expect(catalog.invalid.map(({ file }) => file)).toEqual([broken]);
  });

  it('the catalog reserves the wr namespace for the bundle', async () => {
    enforces('wr_namespace_reserved', 'wr_never_shadowed');
    const [bundled, pretender, stray] = [
      fileWith(workflowText('wr.review'), { kind: 'bundled' }),
      fileWith(workflowText('wr.review'), { kind: 'project' }),
      fileWith(workflowText('wr.other'), { kind: 'user' }),
    ];
    const catalog = await catalogOf([bundled, stray, pretender]);
    expect(catalog.workflows.map(({ file, shadows }) => [file, shadows])).toEqual([[bundled, []]]);
    expect(catalog.invalid.map(({ file, diagnostics }) => [file, diagnostics.map(({ fix }) => fix)])).toEqual([
      [stray, [{ title: 'Rename it to "user.other"', edits: [{ offset: 6, length: 10, text: '"user.other"' }] }]],
      [
        pretender,
        [{ title: 'Rename it to "project.review"', edits: [{ offset: 6, length: 11, text: '"project.review"' }] }],
      ],
    ]);
  });

  it.each(['user', 'project', 'remote', 'plugin'] as const)(
    'no file of a %s source takes an id of the bundle, and none in a folder of routines',
    async (kind) => {
      enforces('wr_namespace_reserved', 'wr_never_shadowed');
      const bundled = fileWith(workflowText('wr.review'), { kind: 'bundled' });
      const pretender = fileWith(workflowText('wr.review'), { kind, rank: 3, ref: 'review.json' });
      const routine = fileWith(workflowText('wr.routine-plan'), { kind, rank: 3, ref: 'routines/plan.json' });
      const { workflows, invalid } = await catalogOf([bundled, pretender, routine]);
      expect(workflows.map(({ file, shadows }) => [file, shadows])).toEqual([[bundled, []]]);
      const refused = invalid.map(({ file, diagnostics }) => [
        file.ref,
        diagnostics.map(({ code, severity, fix }) => [code, severity, fix !== undefined]),
      ]);
      expect(refused).toEqual(
        ['review.json', 'routines/plan.json'].map((ref) => [ref, [['reserved_namespace', 'error', true]]]),
      );
    },
  );

  it('the catalog refuses the second file of a folder that claims an id', async () => {
    const [first, second] = [
      fileWith(workflowText('team.x')),
      fileWith(`\n${workflowText('team.x')}`, { ref: 'b.json' }),
    ];
    const { workflows, invalid } = await catalogOf([first, second]);
    expect(workflows.map(({ file }) => file)).toEqual([first]);
    expect(invalid).toEqual([
      {
        file: second,
        id: 'team.x',
        shadows: [],
        diagnostics: [
          {
            code: 'duplicate_id',
            severity: 'error',
            pointer: '/id',
            span: { offset: 7, length: 8 },
            line: 2,
            column: 7,
            message: 'a.json already has the id "team.x". Give this workflow another id, or remove the file.',
          },
        ],
      },
    ]);
  });

  it('the catalog shows errors with line and column', async () => {
    enforces('invalid_file_is_listed');
    const broken = fileWith('{\n "é": [}');
    const [invalid] = (await catalogOf([broken])).invalid;
    expect(invalid).toEqual({
      file: broken,
      shadows: [],
      diagnostics: [expect.objectContaining({ code: 'not_json', pointer: '', line: 2, column: 8 })],
    });
  });

  it('the catalog lists unread files with the reason and what to do', async () => {
    enforces('invalid_file_is_listed', 'workflow_file_1mb');
    const reasons = [
      { code: 'too_large', bytes: 5_000_000, bytesMax: 1_048_576 },
      { code: 'leads_outside', target: '/etc/passwd' },
      { code: 'not_a_file' },
      { code: 'not_utf8' },
      { code: 'too_many_files', filesMax: 1000 },
      { code: 'io_failed', cause: 'EACCES' },
    ] as const;
    const { invalid } = await catalogOf(reasons.map((reason) => fileOf({ kind: 'unread', reason }, {})));
    expect(
      invalid.map(({ diagnostics: [one] }) => [one?.code, one?.line, one?.column, one?.pointer, one?.message]),
    ).toEqual([
      [
        'file_too_large',
        ...[1, 1, ''],
        'The file has 5000000 bytes; the limit is 1048576. Split it, or move long texts into referenced documents.',
      ],
      [
        'link_leads_outside',
        ...[1, 1, ''],
        'This is a link to /etc/passwd, outside of the folder. Replace it with the file itself.',
      ],
      ['file_unreadable', 1, 1, '', 'This is not a readable file. Replace it with a file, or remove it.'],
      ['file_unreadable', 1, 1, '', 'The file is not UTF-8 text. Save it as UTF-8.'],
      [
        'too_many_files',
        ...[1, 1, ''],
        'Only the first 1000 files of this folder are used. Move other files elsewhere.',
      ],
      ['file_unreadable', 1, 1, '', 'Cannot read this file (EACCES). Check its permissions.'],
    ]);
  });

  it('the catalog distinguishes an unknown id from a broken one', async () => {
    const catalog = await catalogOf([fileWith(workflowText('team.x'))]);
    expect(findWorkflow(catalog, 'team.x')).toEqual({ kind: 'found', listed: catalog.workflows[0] });
    expect(findWorkflow(catalog, 'team.y')).toEqual({
      kind: 'unknown',
      known: ['team.x'],
      meant: { id: 'team.x', choices: ['team.x'] },
    });
  });

  it('the catalog finds an unreadable file by its name', async () => {
    enforces('invalid_file_is_listed');
    const [review, other] = [
      fileWith('{ "id": "team.review", ', { ref: 'sub/review.json' }),
      fileWith(workflowText('team.x', { steps: 1 }), { ref: 'audit.json' }),
    ];
    const catalog = await catalogOf([review, other]);
    const [broken] = catalog.invalid;
    for (const id of ['team.review', 'review', 'other.review']) {
      expect(findWorkflow(catalog, id)).toEqual({ kind: 'invalid', invalid: broken });
    }
    // This one says what it is, so its name decides nothing.
    expect(findWorkflow(catalog, 'team.audit').kind).toBe('unknown');
    const bindings = { ref: '.workrail/bindings.json', path: '/b', content: { kind: 'text', text: '{' } } as const;
    expect(findWorkflow(await catalogOf([], { bindings }), 'bindings').kind).toBe('unknown');
  });

  it('the catalog reports why a workspace was not read', async () => {
    const workspaceProblem = { path: 'repo', reason: { code: 'not_absolute' } } as const;
    let listing: SourceListing = { files: [], workspaceProblem };
    const catalog = workflowCatalog({ files: async () => listing }, listeningTools());
    expect(await catalog.list('repo')).toEqual({ workflows: [], invalid: [], workspaceProblem });
    listing = { files: [] };
    expect(await catalog.list('repo')).toEqual({ workflows: [], invalid: [] });
  });
});

describe('a second listing', () => {
  it('a second listing compiles only what may have changed', async () => {
    const tools = listeningTools();
    const [plain, other] = [
      fileWith(workflowText('team.a'), { ref: 'a.json' }),
      fileWith(workflowText('team.b'), { ref: 'b.json' }),
    ];
    const routine = fileWith(workflowText('team.c'), { ref: 'routines/c.json' });
    let listing: SourceListing = { files: [plain, other, routine] };
    const source: WorkflowSource = { files: async () => ({ ...listing }) };
    const catalog = workflowCatalog(source, tools);
    const compiled = async (next: SourceListing) => {
      listing = next;
      tools.inputs.length = 0;
      const result = await catalog.list('/repo');
      return [tools.inputs.length, ids(result)];
    };
    expect(await compiled(listing)).toEqual([3, ['team.a', 'team.b', 'team.c']]);
    const before = await catalog.list('/repo');
    expect(await compiled(listing)).toEqual([0, ['team.a', 'team.b', 'team.c']]);
    expect(await catalog.list('/repo')).toBe(before);

    const renamed = fileWith(workflowText('team.z'), { ref: 'b.json' });
    expect(await compiled({ files: [plain, renamed, routine] })).toEqual([1, ['team.a', 'team.z', 'team.c']]);
    expect(await compiled({ files: [plain, routine] })).toEqual([0, ['team.a', 'team.c']]);

    const edited = fileWith(workflowText('team.c', { tags: ['edited'] }), { ref: 'routines/c.json' });
    expect(await compiled({ files: [plain, edited] })).toEqual([2, ['team.a', 'team.c']]);
    const bindings = { ref: 'b', path: '/b', content: { kind: 'text', text: '{}' } } as const;
    expect(await compiled({ files: [plain, edited], bindings })).toEqual([2, ['team.a', 'team.c']]);
  });
});

describe('one workflow of many', () => {
  const files = Array.from({ length: 50 }, (_, i) => fileWith(workflowText(`team.w${i}`), { ref: `w${i}.json` }));

  it('finding one workflow does not compile the others, and nothing is compiled twice', async () => {
    enforces('budget_list_start_cpu');
    const tools = listeningTools();
    const catalog = workflowCatalog({ files: async () => ({ files }) }, tools);
    const compiledFor = async (look: () => Promise<unknown>) => {
      tools.inputs.length = 0;
      await look();
      return tools.inputs.length;
    };
    expect(await compiledFor(() => catalog.find('team.w7', '/repo'))).toBe(1);
    expect(await compiledFor(() => catalog.find('team.w7', '/repo'))).toBe(0);
    expect(await compiledFor(() => catalog.list('/repo'))).toBe(49);
    expect(await compiledFor(() => catalog.list('/repo'))).toBe(0);
    expect(await compiledFor(() => catalog.find('team.w8', '/repo'))).toBe(0);
  });

  it('an unchanged file is recognised without compiling, and one that may have changed is left to the compiler', async () => {
    enforces('budget_list_start_cpu', 'pinned_drift_warned');
    const tools = listeningTools();
    let listing: SourceListing = { files };
    const source: WorkflowSource = { files: async () => listing };
    const { found } = await workflowCatalog(source, tools).find('team.w7', '/repo');
    const hash = found.kind === 'found' ? found.listed.sourceHash() : expect.fail('it is there');
    tools.inputs.length = 0;
    const isUnchanged = async (next: SourceListing, id = 'team.w7') => {
      listing = next;
      return workflowCatalog(source, tools).isUnchanged(id, hash, '/repo');
    };
    const spaced = fileWith(` ${workflowText('team.w7')}\n`, { ref: 'w7.json' });
    expect(await isUnchanged({ files })).toBe(true);
    expect(await isUnchanged({ files: [spaced] })).toBe(true);
    expect(await isUnchanged({ files }, 'team.w8')).toBe(false);
    expect(await isUnchanged({ files: [] })).toBe(false);
    const edited = fileWith(workflowText('team.w7', { tags: ['edited'] }), { ref: 'w7.json' });
    expect(await isUnchanged({ files: [edited] })).toBe(false);
    const bindings = { ref: 'b', path: '/b', content: { kind: 'text', text: '{}' } } as const;
    expect(await isUnchanged({ files, bindings })).toBe(false);
    expect(tools.inputs).toEqual([]);
  });

  it('finding a workflow agrees with the listing, also for broken, renamed and unknown ids', async () => {
    const broken = fileWith(workflowText('team.broken', { steps: 1 }), { ref: 'broken.json' });
    const nameless = fileWith('{', { ref: 'nameless.json' });
    const bundled = fileWith(workflowText('wr.now'), { kind: 'bundled', ref: 'wr.now.json' });
    const all = [...files.slice(0, 3), broken, nameless, bundled];
    const aliases = new Map([['wr.then', 'wr.now']]);
    const source = { files: async () => ({ files: all }) };
    const listed = await workflowCatalog(source, listeningTools(aliases)).list('/repo');
    const plain = (found: unknown) => JSON.parse(JSON.stringify(found));
    for (const id of ['team.w1', 'team.broken', 'nameless', 'wr.now', 'wr.then', 'team.gone']) {
      const { found } = await workflowCatalog(source, listeningTools(aliases)).find(id, '/repo');
      expect(plain(found)).toEqual(plain(findWorkflow(listed, id)));
    }
  });
});
