import { err, ok, type Result } from 'neverthrow';
import { nodeBundleTools } from '../../src/adapters/bundle.ts';
import { re2Patterns } from '../../src/adapters/patterns.ts';
import {
  type Exported,
  type ExportRefusal,
  type ExportServices,
  exportSession,
} from '../../src/app/bundle/export-session.ts';
import {
  type Imported,
  type ImportRefusal,
  type ImportRequest,
  type ImportServices,
  importSession,
} from '../../src/app/bundle/import-session.ts';
import type { BundleOutput } from '../../src/app/ports/bundle-output.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { bundleHead, type IntegrityEntry } from '../../src/core/bundle/bundle-document.ts';
import { canonicalBytes, canonicalJson } from '../../src/core/json/canonical-json.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { sha256 } from './sha256.ts';

/** Exports with a fixed time, so that equal sessions give equal bytes. */
export async function exported(
  store: Store,
  sessionId: SessionId,
  { keepsAuthor = false, ...more }: Partial<ExportServices> & { readonly keepsAuthor?: boolean } = {},
): Promise<Result<Exported & { readonly file: Uint8Array }, ExportRefusal>> {
  const pieces: Uint8Array[] = [];
  let isAbandoned = false;
  const output: BundleOutput = {
    write: async (piece) => {
      pieces.push(piece);
      return ok(undefined);
    },
    finish: async () => ok(undefined),
    abandon: async () => {
      isAbandoned = true;
    },
  };
  const done = await exportSession({ ...exportServices(store), ...more }, { sessionId, output, keepsAuthor });
  if (done.isErr())
    return isAbandoned ? err(done.error) : err({ code: 'output_failed', place: 'test', cause: 'left open' });
  return ok({ ...done.value, file: Buffer.concat(pieces) });
}

export function exportServices(store: Store): ExportServices {
  return {
    ...store,
    tools: nodeBundleTools,
    yieldNow: async () => undefined,
    appVersion: '1.2.3',
    appliedConfigHash: async () => undefined,
    now: () => '2026-01-02T03:04:05.678Z',
  };
}

export const IMPORTED_AT = Date.parse('2026-01-03T00:00:00Z');

export function imported(
  services: Omit<ImportServices, 'tools' | 'yieldNow' | 'bin' | 'patterns' | 'clock'> &
    Partial<Pick<ImportServices, 'bin' | 'patterns' | 'clock'>>,
  file: Uint8Array,
  request: boolean | Partial<ImportRequest> = false,
): Promise<Result<Imported, ImportRefusal>> {
  const more = { tools: nodeBundleTools, yieldNow: async () => undefined };
  const usual = {
    bin: { list: async () => ok([]) },
    patterns: { load: async () => re2Patterns() },
    clock: { nowMs: () => IMPORTED_AT },
  };
  return importSession(
    { ...usual, ...services, ...more },
    {
      bytes: file,
      isDryRun: request === true,
      ...(typeof request === 'object' ? request : {}),
    },
  );
}

/** A bundle as an object that a test can change. */
export type LooseBundle = {
  bundleId: string;
  exportedAt: string;
  producer: { appVersion: string };
  integrity: { kind: string; entries: IntegrityEntry[] };
  session: {
    sessionId: string;
    events: Record<string, unknown>[];
    manifest: Record<string, unknown>[];
    snapshots: Record<string, unknown>;
    pinnedWorkflows: Record<string, unknown>;
    artifacts?: Record<string, string>;
    salvage?: Record<string, unknown>;
  };
};

export function loose(file: Uint8Array): LooseBundle {
  return JSON.parse(Buffer.from(file).toString()) as LooseBundle;
}

/** A forged bundle whose digests and id match its changed content. */
export function resealed(bundle: LooseBundle): Uint8Array {
  const { session, exportedAt, producer } = bundle;
  const values: [string, unknown][] = [
    ['session/events', session.events],
    ['session/manifest', session.manifest],
    ...(session.salvage === undefined ? [] : [['session/salvage', session.salvage] as [string, unknown]]),
    ...(['snapshots', 'pinnedWorkflows', 'artifacts'] as const).flatMap((table) =>
      Object.entries(session[table] ?? {}).map(([key, value]): [string, unknown] => [`session/${table}/${key}`, value]),
    ),
  ];
  const entries = values.map(([path, value]) => {
    const bytes = canonicalBytes(value)._unsafeUnwrap();
    return { path, sha256: sha256(bytes), bytes: bytes.length };
  });
  const head = bundleHead({ exportedAt, producer }, entries, sha256).text;
  return Buffer.from(`${head}${canonicalJson(session)._unsafeUnwrap()}}`);
}

/** The same bundle with its old digests. */
export function unsealed(bundle: object): Uint8Array {
  return Buffer.from(JSON.stringify(bundle));
}
