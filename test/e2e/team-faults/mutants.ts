import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { faultRun } from './fault-run.ts';
import type { Violation } from './journal.ts';
import type { NemesisName } from './nemeses.ts';

/** A fault of the program that a fault run must find. */
export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** A second defence that would make the fault harmless. */
  readonly also?: { readonly from: string; readonly to: string };
  /** The faults that show it best. */
  readonly nemeses: readonly NemesisName[];
  /** What the database must not prevent either. */
  readonly spoil?: readonly string[];
};

const STORE = 'src/adapters/postgres-store';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a commit is acknowledged before it is flushed',
    file: `${STORE}/database.ts`,
    from: "set_config('synchronous_commit', 'on', false)",
    to: "set_config('synchronous_commit', 'off', false)",
    nemeses: ['database_crashed'],
  },
  {
    name: 'an append does not ask where the session ends',
    file: `${STORE}/postgres-sessions.ts`,
    from: 'where s.chain = $8 and s.salvage is not distinct from $9::jsonb',
    to: 'where $8::bytea is not null and s.salvage is not distinct from $9::jsonb',
    nemeses: ['connections_cut', 'answers_cut'],
    spoil: [
      'alter table wr.append drop constraint append_space_id_session_id_dedupe_key_key',
      'alter table wr.append drop constraint append_pkey',
    ],
  },
  {
    name: 'a reply is sent before the append is committed',
    file: `${STORE}/postgres-sessions.ts`,
    from: 'const done = await (held?.connection ?? database).run(APPEND, values);',
    to: 'void (held?.connection ?? database).run(APPEND, values); const done = ok([{ appended: 1, pinned: [] }]) as Awaited<ReturnType<typeof database.run>>;',
    nemeses: ['answers_dropped', 'connections_cut', 'backends_terminated', 'database_crashed', 'replica_killed'],
  },
  {
    name: 'a call whose outcome is unknown is decided again with new ids',
    file: 'src/mcp/server.ts',
    from: 'const ids = (caller && idsOfCall?.(meta, call, caller.principal)) ?? others.ids;',
    to: 'const ids = others.ids;',
    nemeses: ['answers_cut', 'replica_killed', 'connections_cut'],
  },
  {
    name: 'two calls may read what was appended to a session at the same time',
    file: `${STORE}/session-rows.ts`,
    from: 'const alone = turnTaking<SessionId>();',
    to: 'const alone = <Value>(_: SessionId, work: () => Promise<Value>) => work();',
    // Otherwise the damage that this does to a remembered session is found, and the session is read again.
    also: {
      from: 'return position.nextEventIndex === 0 ? ok(grown) : read(wholeSession(sessionId, sha256));',
      to: 'return ok(grown);',
    },
    nemeses: ['connections_stalled'],
  },
  {
    name: 'sessions are read where they may be a second old',
    file: `${STORE}/session-rows.ts`,
    from: "if (found.isErr()) return err(storeFailure(found.error, 'read session', sessionId));\n    const rows = found.value as unknown as readonly SessionRow[];",
    to: "if (found.isErr()) return err(storeFailure(found.error, 'read session', sessionId));\n    const lagging = ((globalThis as any).lagging ??= new Map()); const old = lagging.get(sessionId); if (old !== undefined && Date.now() - old.at < 1_000) return ok(old.session);\n    lagging.set(sessionId, { at: Date.now(), session: known });\n    const rows = found.value as unknown as readonly SessionRow[];",
    nemeses: ['connections_cut'],
  },
  {
    name: 'a statement leaves out the space',
    file: `${STORE}/session-rows.ts`,
    from: 'from wr.session s where s.space_id = $1 and s.session_id = $2',
    to: 'from wr.session s where $1::int is not null and s.session_id = $2',
    nemeses: ['connections_cut'],
  },
];

const TRIES = 5;

/** What a fault run finds in a mutant. It gets several tries, because chance decides what meets what. */
export async function violationsOf(mutant: Mutant, seed: number): Promise<readonly Violation[]> {
  const { nemeses, spoil = [] } = mutant;
  const program = await buildMutant(mutant);
  for (let tries = 0; tries < TRIES; tries++) {
    const volume = { seconds: 12, agents: 8, replicas: 2, replayedAfterMax: 50, seed: seed + tries };
    const report = await faultRun({ ...volume, nemeses, spoil, isPromoted: false, place: { program } });
    if (report === undefined) throw new Error('no PostgreSQL server, so no mutant can be found');
    if (report.violations.length > 0) return report.violations;
  }
  return [];
}

type Commands = BuildOptions & { readonly plugins: readonly Plugin[] };

const SMALL = resolve('.cache', 'small-program');

/** Builds the program with one fault in it; returns its main file. */
async function buildMutant({ file, from, to, also, name }: Mutant): Promise<string> {
  const folder = resolve('.cache', 'mutant');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(SMALL, folder, { recursive: true });
  rmSync(join(folder, 'dist', 'chunks'), { recursive: true, force: true });
  const edits = [{ from, to }, ...(also === undefined ? [] : [also])];
  let planted = 0;
  const plant: Plugin = {
    name: 'plant',
    setup: ({ onLoad }) =>
      onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
        if (relative('.', path) !== file) return undefined;
        let contents = readFileSync(path, 'utf8');
        for (const edit of edits) {
          planted += contents.split(edit.from).length - 1;
          contents = contents.replace(edit.from, () => edit.to);
        }
        return { contents, loader: 'ts' };
      }),
  };
  const options = pathToFileURL(resolve('scripts/build-options.mjs')).href;
  const { builds } = (await import(options)) as { readonly builds: { readonly commands: Commands } };
  const { commands } = builds;
  // Of the plugins of the build, those that leave files as they are, or write only their own.
  const plugins = [plant, ...commands.plugins.filter((plugin) => plugin.name !== 'lean-main')];
  await build({ ...commands, outdir: join(folder, 'dist'), plugins });
  if (planted !== edits.length) throw new Error(`"${name}" is planted in ${planted} places of ${file}`);
  if (!readdirSync(join(folder, 'dist')).includes('workrail.js')) throw new Error('the mutant was not built');
  return join(folder, 'dist', 'workrail.js');
}
